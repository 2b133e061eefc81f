-- Compares a token with the marks of a resource and accesses its value, in one step.
-- KEYS[1]  a hash with the fields value, writer and reader; the marks are decimals of 19 digits
-- ARGV     mode ("writer" or "reader"), token (19 digits), access ("read" or "write"), value
-- Returns  "none", "value" and the value, "written", or "stale" and both marks.
-- Strings of equal length compare as their numbers do. Numbers of Lua would round tokens above 2^53.
local mode, token, access, value = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local found = redis.call('HMGET', KEYS[1], 'writer', 'reader', 'value')
local zero = '0000000000000000000'
local writer, reader = found[1] or zero, found[2] or zero
if not string.find(writer .. reader, '^%d+$') or #writer ~= 19 or #reader ~= 19 then
	return redis.error_reply('ERR the fields writer and reader are no marks of package fence')
end
if token < writer or mode == 'writer' and token < reader then
	return 'stale' .. writer .. reader
end
if mode == 'writer' and token > writer or mode == 'reader' and token > reader then
	redis.call('HSET', KEYS[1], mode, token)
end
if access == 'write' then
	redis.call('HSET', KEYS[1], 'value', value)
	return 'written'
end
return found[3] and 'value' .. found[3] or 'none'
