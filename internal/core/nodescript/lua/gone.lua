-- gone: a part of release, release-shared, leave and leave-shared, in the place of @GONE@. A lease was given back that
-- this node does not have. The part sets `gone` to what the node knows about that: kind owner. The kinds are those of
-- extend: x (an operator has ended the lease), l (another owner has the name) and f (a foreign key). `gone` is '' if
-- the node knows nothing, so the answer of most nodes stays one letter. The note about an operator may be older than
-- the lease: it has no effect here, so the part does not compare tokens.
-- Reads: before, key, now, own, owner, sub, till, value
-- Sets: gone
local gone = ''
if before ~= '' and before ~= owner and now < till and own ~= '0000000000000000' then gone = 'l' .. before end
if redis.pcall('HMGET', key .. ':forced', owner)[1] then
  gone = 'x' .. sub(gone, 2)
elseif gone == '' and value and value ~= owner and value ~= '@MARKER@' and (value ~= before or value == '') then
  gone = 'f' .. (type(value) == 'string' and sub(value, 1, 256) or '')
end
