-- forced: a part of extend and extend-shared, in the place of @FORCED@. It refuses the renewal of a lease that an
-- operator has ended on this node: see force.lua. The note has the token of that lease. A later attempt of the same
-- owner has a higher stamp, and its lease is another lease. The answer names the present owner.
-- Reads: T, before, key, owner
-- Sets: noted
local noted = redis.pcall('HMGET', key .. ':forced', owner)[1]
if noted and T <= noted then return 'Lx' .. (before ~= owner and before or '') end
