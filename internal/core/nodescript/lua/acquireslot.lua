-- acquireslot: acquires a slot of a semaphore. It is a part of acquire, in the place of @EACH@. Each slot has a record
-- of its own, and the function `one` of acquire grants a slot as it grants a lock. This part adds the queue that all
-- slots of a name share. If the slot is taken, it looks for another one.
-- KEYS  1 record of the slot  2 queue of the name
-- ARGV  1 the first fields of the new record, as for acquire
--       2 '': the owner does not wait | 16 digits: its ticket | longer: the owner that passes its lease of this slot on
--       3 owner  4 k: the caller uses the slots below k (4 digits)  5 slot  6 the slot from which the owner moves, or ''
-- Returns as acquire, but H kind left rank(6) slot(4) owner: slot is another slot that this node offers the caller,
--         or ---- if it offers none
--
-- An owner has at most one place on a node: a claim, or a grant of the slot from which it moves. If it asks for a slot
-- of which another owner has a claim, the two owners exchange their places. So an owner with a claim of any slot can
-- get a claim of the slot that it asks for. Without this rule, releases of several slots could reach the nodes in
-- different orders. Each waiter would then have claims of different slots on different nodes, and no waiter would get
-- a majority for one slot. The node sends the other owner a message with its new slot. That owner may now have a
-- majority of claims for it, and would otherwise learn this only from its next regular question.
local take = one

-- shared does the work of `one` in two less frequent cases: somebody waits or has a claim, or the slot is taken. In
-- the second case `said` is the answer of `take`. The functions are defined inside shared, so that they cost nothing
-- in the usual case.
local function shared(key, queue, mine, wants, owner, k, slot, from, said)
  @SLOTS@
  -- placeof returns the other slot that the owner has on this node, and the record of that slot. It ignores a grant
  -- whose stamp is not below T. The question is then late, and the grant may belong to the owner's lease. It also
  -- ignores a slot whose key has another type: such a slot must not stop its owner from asking for others.
  local function placeof(queue, slot, member, owner, from, T)
    local function record(n)
      local old = redis.pcall('GET', keyof(queue, n))
      return type(old) == 'string' and old or ''
    end
    local function has(n)
      local old = n ~= slot and record(n) or ''
      return sound(old) and not free(old) and sub(old, 66) == owner and sub(old, 17, 32) < T and old
    end
    local old = from ~= '' and has(tonumber(from))
    if old then return tonumber(from), old end
    local score = call('ZSCORE', queue, member)
    if not score or sub(score, 1, 1) ~= '-' then return end
    local n = -1 - tonumber(score)
    old = has(n)
    if old then return n, old end
    if n ~= slot or sub(record(n), 66) ~= owner then call('ZREM', queue, member) end -- stale
  end

  -- scan calls visit for the free slots below k, except slot itself, until visit returns true. It returns the earliest
  -- expiry of the taken slots that it has seen. A slot is not free if its key has another type, which MGET does not
  -- show.
  local function scan(queue, slot, k, visit)
    local soonest = '9999999999999999'
    for at = 1, k - 1, 16 do
      local keys = {}
      for i = at, math.min(at + 15, k - 1) do keys[#keys + 1] = keyof(queue, (slot + i) % k) end
      for i, old in ipairs(call('MGET', unpack(keys))) do
        old = old or ''
        if free(old) and (old ~= '' or call('EXISTS', keys[i]) == 0) then
          if visit((slot + at + i - 1) % k, old) then return soonest end
        elseif sound(old) and sub(old, 33, 48) < soonest then
          soonest = sub(old, 33, 48)
        end
      end
    end
    return soonest
  end

  local member, ticket, busy, place, theirs = k .. owner, #wants == 16, not said, nil, nil
  slot, k = tonumber(slot), tonumber(k)
  local function held(kind, left, n, holder)
    local rank = ticket and call('ZRANK', queue, member)
    rank = rank and rank - call('ZCOUNT', queue, '-inf', '(0')
    return 'H' .. kind .. left .. (rank and rank >= 0 and string.format('%06d', math.min(rank, 999999)) or RANK)
      .. (n and string.format('%04d', n) or '----') .. holder
  end

  if busy then
    local ahead = sub(mine, 1, 16) - clock
    if ahead > @WINDOW@ or ahead < -@WINDOW@ then return 'O' .. now end
    -- The record comes before all writes: if its key has another type, the script fails here.
    local old = call('GET', key) or ''
    place, theirs = placeof(queue, slot, member, owner, from, sub(mine, 1, 16))
    call('PEXPIRE', queue, '@QUEUEMS@') -- early: a full memory refuses a script whose first write is a SET or a ZADD
    if place and claimed(old) and sub(old, 66) ~= owner then
      local other = call('ZRANGEBYSCORE', queue, -1 - slot, -1 - slot)[1]
      if other and sub(other, 5) == sub(old, 66) and tonumber(sub(other, 1, 4)) > place then
        claim(queue, place, theirs, owner, other, sub(old, 33, 48))
        tell(queue, place, (rest(theirs, owner)), other)
        claim(queue, slot, old, '', member, soon())
        place = nil
      end
    elseif not place and free(old) and sub(mine, 1, 16) > sub(old, 1, 16) then
      -- The slot is free, but owners wait. A caller without a ticket comes after all waiters. A late question of an
      -- attempt that has ended has a stamp below seen, because seen contains the tombstone. So it does not come here
      -- and joins no queue.
      if old == '' then
        @EVICTED@
        if evicted then return 'N' end
      end
      if ticket then call('ZADD', queue, 'NX', wants, member) end
      local first = nextslot(queue, slot, old, member)
      if first and first ~= member then return held('c', '@CLAIM16@', nil, sub(first, 5)) end
    end
  end

  said = said or take(key, nil, mine, '', ticket and '' or wants, owner)
  if sub(said, 1, 1) == 'G' then
    call('ZREM', queue, member)
    call('ZREMRANGEBYSCORE', queue, -1 - slot, -1 - slot)
    if place then
      local seen, flag, leased = rest(theirs, owner)
      theirs = seen .. ZERO .. ZERO .. flag .. leased
      put(keyof(queue, place), theirs, theirs)
      nextslot(queue, place, theirs)
    end
    return 'G' .. (waiting(queue) and '1' or '0')
  end
  if sub(said, 1, 1) ~= 'H' then return said end

  local kind, left, holder = sub(said, 2, 2), sub(said, 3, 18), sub(said, 25)
  if place then return held(kind, left, place, holder) end
  local offer, wanted = nil, 0 -- a try leaves the slots below wanted to the waiters
  if ticket then
    call('ZADD', queue, 'NX', wants, member)
    call('PEXPIRE', queue, '@QUEUEMS@')
  elseif busy then
    wanted = reach(queue)
    if wanted >= k then return held(kind, left, nil, holder) end
  end
  local soonest = scan(queue, slot, k, function(n, old)
    if not ticket then
      if n >= wanted then offer = n end
      return offer
    end
    if old == '' then
      @EVICTED@
      if evicted then return true end
    end
    if nextslot(queue, n, old, member) == member then
      claim(queue, n, old, '', member, soon())
      offer = n
    end
    return not waiting(queue)
  end)
  if evicted then return 'N' end
  if ticket and offer then return held('c', '@CLAIM16@', offer, owner) end
  if not offer and soonest - now < tonumber(left) then left = string.format('%016.0f', soonest - now) end
  return held(kind, left, offer, holder)
end

one = function(key, queue, mine, wants, owner, k, slot, from)
  local said
  if call('ZCOUNT', queue, '-inf', '+inf') == 0 then -- fails before all writes if the key has another type
    said = take(key, nil, mine, '', #wants == 16 and '' or wants, owner)
    if sub(said, 1, 1) == 'G' then return 'G0' end
    if sub(said, 1, 1) ~= 'H' then return said end
  end
  return shared(key, queue, mine, wants, owner, k, slot, from, said)
end
