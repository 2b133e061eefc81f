-- handoff: a part of acquire and release, in the place of @HANDOFF@. Gives a free name to the
-- first of its queue: a claim, for a moment, that only its owner's acquire turns into a lease.
-- A waiter whose connection is gone hears nothing of it and is skipped at once. The news
-- begin with the highest token seen, which the waiter's next stamp must exceed; behind its owner they say
-- of what they are, so that a client which has no use for it can decline. What is in the queue and is no owner is skipped: with
-- a line break it would say of what the news are. A lease that is to be repaired here stands before all who wait, by its
-- token below zero, see extend. It is skipped if a later lease may have been here.
local function handoff(seen, leased)
  local queue = key .. ':queue'
  while true do
    local popped = redis.pcall('ZPOPMIN', queue)
    local first, place = popped[1], popped[2] -- none of another type: nobody waits
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
