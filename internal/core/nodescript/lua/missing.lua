-- missing: a part of release, release-shared, slots, extend and extend-shared, in the place of @MISSING@, for a shard of
-- a Redis Cluster. It runs before a record is stored for a name that has none. If the hash slot came lately, or is not
-- admitted yet, a lock of the name may be missing: see arrived.lua. A record would hide that, so the script stores none
-- if lately is true. The messages against which a tombstone protects are refused meanwhile. A renewal stores its record,
-- which may end before the lease that the holder knows. So the slot then grants no name at all for the rest of that time.
-- Reads: call, now
-- Sets: at, came, lately, rest
local came = call('HMGET', 'holdfast:node:admission', 'came', 'run')
local at = string.match(came[1] or '', '^%d+$')
local rest = at and at + @NAMED@ - now or 0
lately = came[2] ~= '@RUN@' or rest > 0 and rest <= @NAMED@ + 2 * @WINDOW@ or came[1] and not at -- admit mends it
