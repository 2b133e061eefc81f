-- forced: a part of extend and extend-shared, in the place of @FORCED@. It refuses the renewal of a lease that an
-- operator has ended on this node: see force.lua. The answer names the present owner.
if redis.pcall('HMGET', key .. ':forced', owner)[1] then return 'Lx' .. (before ~= owner and before or '') end
