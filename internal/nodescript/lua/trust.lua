-- trust: an operator vouches for what admit told: that no lock is alive which the node forgot before it wrote this
-- challenge, or that it has under the configuration of this mark. Sent as text. A late or repeated voucher names what
-- is over, and does nothing to what was lost later.
-- ARGV  1 for how long the voucher waits to be used, ms  2 the configuration it is for; it may replace another
--       3 the challenge or the mark
-- Returns R | V: void
local call = redis.call
local info = call('INFO')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local run, replid, evicted = field('run_id'), field('master_replid'), field('evicted_keys')
local there = call('GET', 'holdfast:node')
local r = call('HMGET', 'holdfast:node:admission', 'challenge', 'config', 'until')
local challenge = r[1] or ''
@MARK@
if r[2] == ARGV[2] and r[3] == '0' then return 'R' end -- it votes
if ARGV[3] ~= (r[2] == ARGV[2] and challenge or mark) then return 'V' end
call('SET', 'holdfast:node:trust', ARGV[3] .. ' ' .. ARGV[2], 'PX', ARGV[1])
return 'R'
