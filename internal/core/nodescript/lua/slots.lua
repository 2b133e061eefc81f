-- slots: a part of acquireslot and releaseslot, in the place of @SLOTS@. It has the functions for the keys of a
-- semaphore's slots and for their shared queue.
--
-- Each member of the queue is a text: k in four digits, and then an owner that can use the slots below k. The member's
-- score is the owner's ticket while the owner waits. While the owner has a claim of a slot, the score is -1 - slot. When
-- the claim has ended, the member is stale: it has no effect, and the next claim or grant of the slot removes it.
local ZERO, RANK = '0000000000000000', '------'
local function keyof(queue, slot) return sub(queue, 1, -21) .. slot .. ':holdfast' end -- 'slots:holdfast:queue'
local function sound(old) return #old >= 65 and #old <= @LONGEST@ end
local function free(old) return old == '' or sound(old) and now >= sub(old, 33, 48) end
local function claimed(old) return sound(old) and sub(old, 17, 32) == ZERO and now < sub(old, 33, 48) end
local function waiting(queue) return call('ZCOUNT', queue, '0', '+inf') > 0 end

-- reach returns the largest number of slots that a waiter can use, 0 if nobody waits. Behind many waiters it takes the
-- largest number that any caller may use.
local function reach(queue)
  local most = 64
  local all, largest = redis.pcall('ZRANGEBYSCORE', queue, '0', '+inf', 'LIMIT', 0, most), 0
  for _, member in ipairs(all) do largest = math.max(largest, tonumber(sub(member, 1, 4)) or 0) end
  return #all < most and largest or @MOSTSLOTS@
end

-- rest returns the fields of a record that stay when its owner goes: seen, the flag and leased. If the owner is
-- `never`, its stamps never won a majority, and seen becomes their tombstone. Any other owner may have had a lease, so
-- its token counts as leased.
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

-- put stores a record. A record that exists keeps its expiry.
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

-- tell sends a member of the queue the news that it has a claim of a slot, and reports whether anybody hears it. seen is
-- that of the slot's record.
local function tell(queue, slot, seen, member)
  local owner = sub(member, 5)
  local client = #owner <= @OWNER@ and string.match(owner, '^[^~\n]*~([^~\n]*)~[^\n]*$')
  local heard = client and redis.pcall('PUBLISH', 'holdfast:inbox:' .. client, seen .. owner .. '\n0' .. keyof(queue, slot))
  return type(heard) == 'number' and heard > 0
end

-- nextslot claims a free slot for the first waiter that can use it, and returns that member of the queue. It removes
-- waiters whose connection is gone. If the member is `me`, nextslot makes no claim.
local function nextslot(queue, slot, old, me)
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
