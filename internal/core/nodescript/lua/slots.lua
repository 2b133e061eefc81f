-- slots: a part of acquireslot and releaseslot, in the place of @SLOTS@. It contains functions for the records of a
-- semaphore's slots and for the queue that the slots share.
--
-- Each member of the queue is a text: k in four digits, and then an owner that can use the slots below k. While the
-- owner waits, the member's score is the owner's ticket. While the owner has a claim of a slot, the score is -1 -
-- slot. When the claim has ended, the member is stale. It then has no effect, and the next claim or grant of the slot
-- removes it.
-- Reads: call, now, sub
-- Sets: RANK, ZERO, claim, claimed, free, keyof, nextslot, put, reach, rest, soon, sound, tell, waiting
local ZERO, RANK = '0000000000000000', '------'
local function keyof(queue, slot) return sub(queue, 1, -21) .. slot .. ':holdfast' end -- 'slots:holdfast:queue'
local function sound(old) return #old >= 65 and #old <= @LONGEST@ end
local function free(old) return old == '' or sound(old) and now >= sub(old, 33, 48) end
local function claimed(old) return sound(old) and sub(old, 17, 32) == ZERO and now < sub(old, 33, 48) end
local function waiting(queue) return call('ZCOUNT', queue, '0', '+inf') > 0 end

-- reach returns the largest k of all waiters, or 0 if nobody waits. It reads only the first waiters of the queue. If
-- there may be more, it returns the largest k that is possible.
local function reach(queue)
  local most = 64
  local all, largest = redis.pcall('ZRANGEBYSCORE', queue, '0', '+inf', 'LIMIT', 0, most), 0
  for _, member in ipairs(all) do largest = math.max(largest, tonumber(sub(member, 1, 4)) or 0) end
  return #all < most and largest or @MOSTSLOTS@
end

-- rest returns the fields of a record that stay when its owner goes: seen, flag and leased. The argument `never` names
-- an owner whose stamps never won a majority: seen then becomes a tombstone for them. Any other owner may have had a
-- lease, so its token counts as leased.
local function rest(old, never)
  if old == '' then return ZERO, '0', ZERO end
  local seen, T, leased = sub(old, 1, 16), sub(old, 17, 32), sub(old, 50, 65)
  if T ~= ZERO and sub(old, 33, 48) ~= ZERO then
    if sub(old, 66) ~= never then
      if T > leased then leased = T end
    else
      T = string.format('%016.0f', T + 1)
      if T > seen then seen = T end
    end
  end
  return seen, sub(old, 49, 49), leased
end

-- put stores a record. If the key exists, it keeps its expiry.
local function put(key, old, text)
  if old == '' then call('SET', key, text, 'PX', '@STAYMS@') else call('SET', key, text, 'KEEPTTL') end
end

-- claim reserves a slot for a member of the queue until expiry.
local function claim(queue, slot, old, never, member, expiry)
  local seen, flag, leased = rest(old, never)
  call('ZREMRANGEBYSCORE', queue, -1 - slot, -1 - slot)
  call('ZADD', queue, -1 - slot, member)
  put(keyof(queue, slot), old, seen .. ZERO .. expiry .. flag .. leased .. sub(member, 5))
  return seen
end
local function soon() return string.format('%016.0f', now + @CLAIM@) end

-- tell sends a member of the queue the message that it has a claim of a slot. It returns true if the member's client
-- listens. The argument seen is the field `seen` of the slot's record.
local function tell(queue, slot, seen, member)
  local owner = sub(member, 5)
  local client = #owner <= @OWNER@ and string.match(owner, '^[^~\n]*~([^~\n]*)~[^\n]*$')
  local heard = client and redis.pcall('PUBLISH', 'holdfast:inbox:' .. client, seen .. owner .. '\n0' .. keyof(queue, slot))
  return type(heard) == 'number' and heard > 0
end

-- nextslot reserves a free slot for the first waiter that can use it, and returns that member of the queue. It removes
-- waiters whose client is gone. If that waiter is the member `me`, nextslot returns it without a claim.
local function nextslot(queue, slot, old, me)
  if old == '' then
    local lately
    @MISSING@
    if lately then return end
  end
  local cannot = 0
  while true do
    local member = redis.pcall('ZRANGEBYSCORE', queue, '0', '+inf', 'LIMIT', cannot, 1)[1]
    if not member or member == me then return member end
    if (tonumber(sub(member, 1, 4)) or 0) <= slot then
      cannot = cannot + 1
    else
      local seen = rest(old, '')
      if tell(queue, slot, seen, member) then
        claim(queue, slot, old, '', member, soon())
        return member
      end
      call('ZREM', queue, member)
    end
  end
end
