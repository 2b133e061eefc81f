-- releaseslot: gives a slot of a semaphore back, and removes its owner from the queue of the name. It is a part of
-- release, in the place of @EACH@. The function `one` of release gives a slot back as it gives a lock back. This part
-- then gives the slot to the first waiter that can use it.
-- KEYS  1 record of the slot  2 queue of the name
-- ARGV  1-4 as for release  5 k (4 digits)  6 slot; '' if the owner only leaves the queue
--       7 '1': the owner keeps its place in the queue; else '0'
-- Returns as release
local give = one

-- shared does the work of `one` if somebody waits or has a claim. Its functions are defined inside it: see
-- acquireslot.lua.
local function shared(key, queue, owner, highest, above, never, k, slot, stays)
  @SLOTS@
  if not now then clock() end
  local said, expiry = 'D', nil
  if slot then
    expiry = sub(call('GET', key) or '', 33, 48)
    said = give(key, nil, owner, highest, above, never)
  end
  if stays == '0' then
    local score = redis.pcall('ZSCORE', queue, k .. owner)
    if type(score) == 'string' then
      call('ZREM', queue, k .. owner)
      local n = -1 - tonumber(score)
      local old = n >= 0 and n ~= slot and redis.pcall('GET', keyof(queue, n))
      if type(old) ~= 'string' then old = '' end -- also if the key has another type
      if claimed(old) and sub(old, 66) == owner then
        local seen, flag, leased = rest(old, '')
        old = seen .. ZERO .. ZERO .. flag .. leased
        put(keyof(queue, n), old, old)
        nextslot(queue, n, old)
      end
    end
  end
  if slot and said == 'D' then
    redis.pcall('ZREMRANGEBYSCORE', queue, -1 - slot, -1 - slot)
    local old = call('GET', key) or ''
    -- If the lease seems to have ended long ago, this node's clock is ahead, and the script makes no claim by this
    -- clock: see release.lua.
    local sane = now - above <= @QUARANTINE@ or now < expiry
    if sane and free(old) then nextslot(queue, slot, old) end
  end
  return said
end

one = function(key, queue, owner, highest, above, never, k, slot, stays)
  if call('EXISTS', queue) == 1 then
    return shared(key, queue, owner, highest, above, never, k, tonumber(slot), stays)
  end
  return slot == '' and 'D' or give(key, nil, owner, highest, above, never)
end
