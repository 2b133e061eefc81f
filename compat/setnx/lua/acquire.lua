-- acquire: takes the lock by SETNX, or by GETSET if its time has passed. The pattern sends GET and GETSET one after the
-- other. Here no client comes between them, so this script never overwrites the value of a lock that has not ended.
-- KEYS  1 NAME
-- ARGV  1 TTL in ms  2 unit  3 the time in ms by which another client's clock may be late
-- Returns  G value: granted
--          H left LF value: held; left is the time in ms until this script would take it
--          F type ttl LF value: the key is no lock of this pattern; value is the start of a string, ttl -1: no expiry
local mine = written(tonumber(ARGV[1]), ARGV[2])
-- With a clock before 2001, mine has too few digits, and every client would take it for the value of another program.
if not ends(mine) then return redis.error_reply('ERR the clock of this server shows ' .. mine .. '; set it right') end
local type = call('TYPE', KEYS[1]).ok
if type == 'none' then
  call('SETNX', KEYS[1], mine)
  return 'G' .. mine
end
local ttl = call('PTTL', KEYS[1]) -- may be too large for Lua's own form of numbers
if type ~= 'string' then return 'F' .. type .. ' ' .. string.format('%.0f', ttl) .. '\n' end
local value = call('GETRANGE', KEYS[1], 0, 127)
local last = ends(value)
if not last then return 'F' .. type .. ' ' .. string.format('%.0f', ttl) .. '\n' .. value end
local left = last + tonumber(ARGV[3]) - now
if left <= 0 then
  call('GETSET', KEYS[1], mine)
  return 'G' .. mine
end
if ttl >= 0 and ttl < left then left = ttl end
return string.format('H%.0f\n', left) .. value
