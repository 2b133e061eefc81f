-- acquire: stores the owner if the name is free. If the name is taken, it returns the holder. One call may run several
-- acquires: see each.lua. If the flag of the record says that there are readers, acquire also reads the hash of the
-- readers: see readers.lua.
-- KEYS  1 record  2 plain key (absent for a private lock)
-- ARGV  1 the first fields of the new record: T, T, expiry and the flag 0; T is the stamp  2 ttl, ms
--       3 '': the owner does not wait | 16 digits: its ticket, it joins the queue | longer: an owner of the same process,
--         which passes its lease to this owner
--       4 owner
-- Returns G waiting: granted; waiting is 1 if others wait, else 0
--       | H kind left rank(6) owner: held for left us. kind is l (an owner), r (readers), c (a claim) or f (a foreign
--         key). For readers the field owner is number(6) and their owners: see named.lua. rank is the number of waiters
--         before the caller, or ------ if the caller is not in the queue
--       | S seen: the stamp is not above seen | P seen: the same, and seen is more than W ahead of the node's clock
--       | O time: the stamp differs from the node's clock by more than W | N: the node does not vote
--       | C: the record is corrupt
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

  local before, live, waits, seen, leased = '', false, '0', '0000000000000000', '0000000000000000'
  local above, hash, marked, rseen, rleased, gone -- the last five: of readers
  local old = call('GET', key)
  if old then
    if #old < 65 or #old > @LONGEST@ then return 'C' end
    seen, waits, leased = sub(old, 1, 16), sub(old, 49, 49), sub(old, 50, 65)
    local expiry, readers, holder, T0, crowd = sub(old, 33, 48), nil, nil, nil, nil
    if waits ~= '0' and waits ~= '1' then
      if waits ~= '2' and waits ~= '3' then return 'C' end -- of a later version
      @READERS@
      local no, dead
      hash, waits, marked = key .. ':readers', waits == '3' and '1' or '0', true
      no, rseen, rleased, dead, readers, gone = read(hash)
      @FORGOT@
      if dead > rleased then rleased = dead end
    end
    if expiry ~= '0000000000000000' then -- it was not released
      before, live = sub(old, 66), now < expiry
      -- A repeated request gets the same answer as the first one. A claim has T = 0, so no stamp is equal to it.
      if live and before == owner and sub(old, 17, 32) == T then return 'G' .. waits end
      -- This comes before the comparison of tokens. So a waiter whose stamp is a little too low can still join the
      -- queue.
      if live and before ~= owner and before ~= wants then
        if string.find(expiry, '%D') then return 'C' end
        holder, T0 = before, sub(old, 17, 32)
      end
    end
    -- Readers have the name. The answer names the reader with the lowest token, and the latest expiry of all readers.
    if not holder and readers and readers[1] then
      holder, T0, expiry = readers[1][1], readers[1][2], readers[1][3]
      for i = 2, #readers do
        if readers[i][3] > expiry then expiry = readers[i][3] end
      end
      if T0 ~= '0000000000000000' then
        @NAMED@
        crowd = named(readers)
      end
    end
    if holder then
      local kind, rank = crowd and 'r' or 'l', '------'
      if T0 == '0000000000000000' then kind = 'c' end
      if #wants == 16 then
        local queue = key .. ':queue'
        call('ZADD', queue, 'NX', wants, owner)
        call('PEXPIRE', queue, '@QUEUEMS@') -- a string: Redis's Lua prints numbers slowly
        if waits ~= '1' then call('SETRANGE', key, '48', marked and '3' or '1') end
        rank = string.format('%06d', math.min(call('ZRANK', queue, owner), 999999))
      end
      return 'H' .. kind .. string.format('%016.0f', expiry - now) .. rank .. (crowd or holder)
    end
    -- The owner before may have had a lease with this stamp as its token. Only a release can show that it had none.
    if before ~= '' and before ~= owner and sub(old, 17, 32) > leased then leased = sub(old, 17, 32) end
    above = marked and rseen > seen and rseen or seen
    if T <= above then
      if string.find(above, '%D') then return 'C' end
      -- The token seen is ahead of this node's clock by more than W. Clients must not draw higher stamps because of
      -- it: other nodes would refuse those stamps, and nobody could get the name until that time.
      if above > now and above - now > @WINDOW@ then return 'P' .. above end
      return 'S' .. above
    end
  else
    @EVICTED@
    if evicted then return 'N' end
  end
  @ARRIVED@

  local value, taken = false, waits ~= '1' and plain and call('SET', plain, owner, 'NX', 'PX', ttl)
  if plain and not taken then
    value = redis.pcall('GET', plain)
    if type(value) == 'table' then value = '' end -- another type: Redisson keeps a hash
    if value and (value == '' or (value ~= before and value ~= owner and value ~= '@MARKER@')) then
      local left = call('PTTL', plain)
      if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
      return 'Hf' .. left .. '------' .. sub(value, 1, 256)
    end
  end
  -- The name is free, but owners wait for it. So it goes to the first waiter in the queue, which may be the caller. A
  -- caller with a claim of its own, or to which a lease is passed, needs no place in the queue.
  if waits == '1' then
    local queue = key .. ':queue'
    if not live then
      if #wants == 16 then call('ZADD', queue, 'NX', wants, owner) end
      local first = call('ZRANGE', queue, 0, 0)[1]
      if first and first ~= owner then
        @HANDOFF@
        -- If all waiters before the caller are gone, handoff gives the claim to the caller. The caller learns this
        -- from the message of the hand-off, as any waiter does.
        local next = handoff(seen, leased, above, marked)
        if next then
          local rank = call('ZRANK', queue, owner)
          return 'Hc' .. '@CLAIM16@' .. (rank and string.format('%06d', math.min(rank, 999999)) or '------') .. next
        end
      end
    end
    call('ZREM', queue, owner)
    waits = call('EXISTS', queue) == 1 and '1' or '0'
    mine = sub(mine, 1, 48) .. waits
    if plain then call('SET', plain, owner, 'PX', ttl) end
  elseif plain and not taken then
    call('SET', plain, owner, 'PX', ttl)
  end
  if marked then
    -- This grant removes the expired readers, because none of their leases may be extended after it. If leased is not
    -- below rseen, a writer's lease has ended the leases of all readers, and the hash is not needed any more.
    if leased < rseen then
      call('PEXPIRE', hash, '@STAYMS@')
      call('HSET', hash, 'seen', rseen .. rleased)
      for i = 1, #gone, 100 do call('HDEL', hash, unpack(gone, i, math.min(i + 99, #gone))) end
      mine = sub(mine, 1, 48) .. (waits == '1' and '3' or '2')
    else
      call('DEL', hash)
    end
  end
  mine = mine .. leased .. owner
  -- The expiry (PX) is most of the cost of a SET. SETRANGE is cheaper, and keeps the expiry of the old record. It can
  -- be used under two conditions. The new record is as long as the old one. And seen and T have the same first eight
  -- digits, so they are less than 100 s apart: the old expiry is still long enough, because each PX is at least 100 s
  -- longer than needed.
  if old and #old == #mine and sub(seen, 1, 8) == sub(T, 1, 8) then
    call('SETRANGE', key, '0', mine)
  else
    call('SET', key, mine, 'PX', '@STAYMS@')
  end
  return 'G' .. waits
end
@EACH@
