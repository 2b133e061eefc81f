-- refresh: extends the life of the guard on a node that votes. A client at work sends it at intervals.
-- ARGV  1 stamp - W  2 stamp + W. The node's clock must be between them. Otherwise a leap of the
--       clock could make the guard live too long.
-- Returns R: refreshed | O time: the stamp differs from the node's clock by more than W | N: the node does not vote
local call = redis.call
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end
local refreshed = call('HMGET', 'holdfast:node:admission', 'refreshed')[1]
if refreshed and string.find(refreshed, '^%d+$') and refreshed - now > 2 * @WINDOW@ then return 'O' .. now end -- late, and the clock went back
call('PEXPIRE', 'holdfast:node', @GUARDMS@)
call('SET', 'holdfast:node:kept', '@RUN@', 'PX', @KEPTMS@)
call('HSET', 'holdfast:node:admission', 'refreshed', now)
return 'R'
