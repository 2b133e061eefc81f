-- trust: stores the voucher of an operator for the next admit. Clients send its whole text (EVAL), because trust is
-- not among the loaded scripts. A voucher that names a challenge states: all locks that the node forgot before it
-- wrote this challenge have ended. A voucher that names a mark states: all locks that the node granted under the
-- configuration of the mark have ended. A voucher that comes late or twice names a past loss, and has no effect on a
-- later one.
-- ARGV  1 how long the voucher waits for its use, ms  2 the configuration of the client; it may replace another one
--       3 the challenge or the mark
-- Returns R: stored, or the node votes already | V: void, the voucher names no present challenge or mark
local call = redis.call
local info = call('INFO')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local run, replid, evicted = field('run_id'), field('master_replid'), field('evicted_keys')
local there = call('GET', 'holdfast:node')
local r = call('HMGET', 'holdfast:node:admission', 'challenge', 'config', 'until')
local challenge = r[1] or ''
@MARK@
if r[2] == ARGV[2] and r[3] == '0' then return 'R' end -- the node votes
if ARGV[3] ~= (r[2] == ARGV[2] and challenge or mark) then return 'V' end
call('SET', 'holdfast:node:trust', ARGV[3] .. ' ' .. ARGV[2], 'PX', ARGV[1])
return 'R'
