-- acquire-shared: adds the owner to the readers of a name, unless a writer has the name or waits before the owner. One
-- call may run several acquires: see each.lua. Fields of the record, such as seen and leased, are those of writers.
-- The fields of readers are in a hash: see readers.lua.
-- KEYS  1 record  2 plain key (absent for a private lock)
-- ARGV  1 T and expiry; T is the stamp  2 ttl, ms
--       3 '': the owner does not wait | 16 digits: its ticket, it joins the queue | longer: a writer of the same process,
--         which passes its lease to this reader, or whose lease becomes the lease of this reader
--       4 owner
-- Returns as acquire
local call, sub, evicted = redis.call, string.sub, nil
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
local clock = tonumber(now)

local function one(key, plain, mine, ttl, wants, owner)
  local T = sub(mine, 1, 16)
  local ahead = T - clock
  if ahead > @WINDOW@ or ahead < -@WINDOW@ then return 'O' .. now end
  local old = call('GET', key)
  @SHARES@
  if not old then
    @EVICTED@
    if evicted then return 'N' end
  end
  @ARRIVED@
  local queue, alive = key .. ':queue', has and now < ends
  local function rank()
    local n = call('ZRANK', queue, owner)
    return n and string.format('%06d', math.min(n, 999999)) or '------'
  end
  -- held returns the answer that names the holder. An owner with a ticket joins the queue. crowd is the list of
  -- readers if readers have the name.
  local function held(who, T0, last, crowd)
    local place = '------'
    if #wants == 16 then
      call('ZADD', queue, 'NX', wants, owner)
      call('PEXPIRE', queue, '@QUEUEMS@')
      if not waits then call('SETRANGE', key, '48', flag + 1) end
      place = rank()
    end
    local kind = T0 == '0000000000000000' and 'c' or crowd and 'r' or 'l'
    return 'H' .. kind .. string.format('%016.0f', last - now) .. place .. (kind == 'r' and crowd or who)
  end

  if alive and has == T then return 'G' .. (waits and '1' or '0') end -- a repeated command
  local passed = before ~= '' and before == wants
  if before ~= '' and now < till and not passed then
    if string.find(till, '%D') then return 'C' end
    return held(before, own, till)
  end
  -- A reader's token need not be higher than the tokens of other readers. But a late acquire must not lower the T of
  -- its own owner.
  local least = seen
  if has and has > least then least = has end
  if T <= least then
    if string.find(least, '%D') then return 'C' end
    if least > now and least - now > @WINDOW@ then return 'P' .. least end
    return 'S' .. least
  end
  -- The writer before may have had a lease. A pass ends that lease, as a release does: a late renewal of it must not
  -- get a place in the queue.
  -- A downgrade replaces a lease on which its holder still relies, so the later expiry counts. The same is true of its
  -- next request, which replaces this entry. The old expiry is the later one if a clock was wrong in between.
  local longest = passed and till or ends
  if longest and longest > sub(mine, 17) then
    if string.find(longest, '%D') then return 'C' end
    mine = T .. longest
  end
  if passed and own ~= '0000000000000000' then own = string.format('%016.0f', own + 1) end
  if own and own > leased then leased = own end

  local value = plain and redis.pcall('GET', plain)
  if type(value) == 'table' then value = '' end
  if value and (value == '' or value ~= '@MARKER@' and value ~= before) then
    local left = call('PTTL', plain)
    if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
    return 'Hf' .. left .. '------' .. sub(value, 1, 256)
  end

  -- If a writer is before the caller in the queue, the caller waits. If nobody listens to the channel of that writer,
  -- the writer is gone, and the script removes its entry. A lease that waits for its repair counts as a writer, unless
  -- this node may have had a later lease. Readers in the queue do not block the caller. A caller with a claim or a
  -- partial grant, or one to which a lease is passed, needs no place in the queue.
  if waits and not alive and not (passed and now < till) then
    local blocked, from = false, 0
    repeat
      local some = call('ZRANGE', queue, from, from + 15, 'WITHSCORES')
      for i = 1, #some, 2 do
        local who, place = some[i], some[i + 1]
        if #wants == 16 and tonumber(place) >= tonumber(wants) then
          some = {}
          break
        end
        from = from + 1
        if sub(who, -2) ~= '~r' then
          local over = sub(place, 1, 1) == '-' and string.format('%016.0f', -place) < leased
          local client = not over and #who <= @OWNER@ and string.match(who, '^[^~\n]*~([^~\n]*)~[^\n]*$')
          if client and call('PUBSUB', 'NUMSUB', 'holdfast:inbox:' .. client)[2] > 0 then
            blocked = true
            break
          end
          call('ZREM', queue, who)
          from = from - 1
        end
      end
    until blocked or #some < 32
    if blocked then
      local live = {}
      if marked then
        @READERS@
        local no, _
        no, _, _, _, live = read(hash)
        @FORGOT@
      end
      if live[1] then
        local last = live[1][3]
        for i = 2, #live do
          if live[i][3] > last then last = live[i][3] end
        end
        @NAMED@
        return held(live[1][1], live[1][2], last, named(live))
      end
      -- The name is free, so it goes to the first waiter in the queue. That may be the caller.
      if #wants == 16 then call('ZADD', queue, 'NX', wants, owner) end
      @HANDOFF@
      local next = handoff(seen, leased, rseen > seen and rseen or seen, marked)
      if next then return 'Hc' .. '@CLAIM16@' .. rank() .. next end
    end
  end

  -- The hash and the queue come first: if a key has another type, the script fails here, and has written nothing yet.
  -- The same is true if the hash slot is being moved, and the hash is missing.
  local stale = not marked and call('HGETALL', hash)
  local others = waits
  if waits then
    call('ZREM', queue, owner)
    others = call('EXISTS', queue) == 1
  end
  -- A full memory refuses a script whose first write is a SET. A downgrade must not fail so: it replaces the renewals of
  -- the lease.
  if passed then call('PEXPIRE', key, '@STAYMS@', 'GT') end
  if value == '@MARKER@' then
    call('PEXPIRE', plain, ttl, 'GT')
  elseif plain then
    call('SET', plain, '@MARKER@', 'PX', ttl)
  end
  if marked then
    -- Once in 10 s, a grant removes all expired readers. All times of one such period have the same first nine digits.
    if sub(rseen, 1, 9) ~= sub(T, 1, 9) then
      local all = call('HGETALL', hash)
      for i = 1, #all, 2 do
        local who, two = all[i], all[i + 1]
        if who ~= 'seen' and who ~= owner and #two == 32 and now >= sub(two, 17) then
          if sub(two, 1, 16) > rleased then rleased = sub(two, 1, 16) end
          call('HDEL', hash, who)
        end
      end
    end
  end
  -- The script need not set an expiry if an earlier reader's grant has set it in the same period of 100 s: see acquire.
  -- All times of such a period have the same first eight digits.
  local fresh = marked and sub(rseen, 1, 8) == sub(T, 1, 8)
  if T > rseen then rseen = T end
  call('HSET', hash, 'seen', rseen .. rleased, owner, mine)
  for i = 1, stale and #stale or 0, 2 do -- somebody has deleted only the record: see extend
    if stale[i] ~= 'seen' and stale[i] ~= owner then call('HDEL', hash, stale[i]) end
  end
  if not fresh then call('PEXPIRE', hash, '@STAYMS@') end
  -- The fields of the writer become zeros. Otherwise the lease of an expired writer could be extended after this
  -- grant.
  local new = seen .. '00000000000000000000000000000000' .. (others and '3' or '2') .. leased
  if not fresh or old ~= new then call('SET', key, new, 'PX', '@STAYMS@') end
  if others then
    @HANDOFF@
    handoff(seen, leased, seen, true, true)
    others = call('EXISTS', queue) == 1
  end
  return 'G' .. (others and '1' or '0')
end
@EACH@
