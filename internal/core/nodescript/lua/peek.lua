-- peek: returns the value of a name to any caller, also without the lock. It only reads. Clients send its whole text.
-- KEYS  1 value
-- Returns -: there is none | V and the stored value. The script cuts the stored value at one byte above the limit. So
-- the client sees that it is too long.
local value = redis.pcall('GET', KEYS[1])
if not value then return '-' end
if type(value) == 'table' then value = '?' end
return 'V' .. string.sub(value, 1, @MOSTVALUE@ + 1)
