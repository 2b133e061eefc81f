-- handoff: a part of acquire and release, in the place of @HANDOFF@. It gives a free name to the first waiter of its
-- queue, as a claim for a moment. Only an acquire of the claim's owner turns the claim into a lease. It skips a waiter
-- whose connection is gone, because nobody hears the message.
--
-- The message begins with the highest token seen: the waiter's next stamp must exceed it. After the owner the message
-- names the lock, so that a client that cannot use the claim can decline it. handoff skips any entry of the queue that
-- is no owner. With a line break such an entry could forge the name of the lock.
--
-- A lease that waits for its repair comes before all waiters. Its place in the queue is minus its token: see extend.
-- handoff skips it if a later lease may have been on this node.
local function handoff(seen, leased)
  local queue = key .. ':queue'
  while true do
    local popped = redis.pcall('ZPOPMIN', queue)
    local first, place = popped[1], popped[2] -- false if the key has another type: nobody waits
    if not first then return end
    local over = sub(place, 1, 1) == '-' and string.format('%016.0f', -place) < leased
    local client = not over and #first <= @OWNER@ and string.match(first, '^[^~\n]*~([^~\n]*)~[^\n]*$')
    local heard = client and redis.pcall('PUBLISH', 'holdfast:inbox:' .. client, seen .. first .. '\n' .. (plain and '1' or '0') .. key)
    if type(heard) == 'number' and heard > 0 then
      local others = call('EXISTS', queue) == 1 and '1' or '0'
      call('SET', key, seen .. '0000000000000000' .. string.format('%016.0f', now + @CLAIM@) .. others .. leased .. first,
        'KEEPTTL')
      if plain then call('SET', plain, first, 'PX', '@CLAIMMS@') end
      return first
    end
  end
end
