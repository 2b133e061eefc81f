-- trust: an operator vouches that no lock is alive on this incarnation of the node. Sent as text.
-- ARGV  1 for how long the voucher waits to be used, ms  2 the configuration it is for; it may replace another
-- Returns R
local run = string.match(redis.call('INFO'), '\nrun_id:([^\r\n]*)') or ''
redis.call('SET', 'holdfast:node:trust', run .. ' ' .. ARGV[2], 'PX', ARGV[1])
return 'R'
