-- peek: answers the value of a name's register to anybody. It only reads. Clients send it as text.
-- KEYS  1 value
-- Returns - none | V and the value as it is stored, cut after the length of the longest one
local value = redis.pcall('GET', KEYS[1])
if not value then return '-' end
if type(value) == 'table' then value = '?' end
return 'V' .. string.sub(value, 1, @MOSTVALUE@ + 1)
