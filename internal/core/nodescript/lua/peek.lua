-- peek: returns the value of a name. The caller need not hold the lock. peek only reads. Clients send it as text.
-- KEYS  1 value
-- Returns -: there is none | V and the stored value, cut after the largest length that a value may have
local value = redis.pcall('GET', KEYS[1])
if not value then return '-' end
if type(value) == 'table' then value = '?' end
return 'V' .. string.sub(value, 1, @MOSTVALUE@ + 1)
