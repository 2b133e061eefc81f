-- proof: returns what this server says about its memory, for a hash slot that has left it: see adopt.lua. It only reads.
-- Clients send its whole text.
-- Returns time, run id, replication id, evicted_keys, 1 if it was a replica itself (else 0) and its role, with blanks
-- between them
local info = redis.call('INFO')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local t = redis.call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
local copied = (string.find(field('master_replid2'), '[^0]') or field('total_net_repl_input_bytes') ~= '0') and '1' or '0'
return table.concat({ now, field('run_id'), field('master_replid'), field('evicted_keys'), copied, field('role') }, ' ')
