-- load: returns the value of a name. It answers only the holder of the lock.
-- KEYS  1 record  2 value
-- ARGV  1 owner  2 T, the token of the lease  3 stamp
-- Returns V memory version kind bytes; the version has 24 digits | L, O time, N or C: see holder.lua
--         | Q left: the hash slot of the name came less than a quarantine ago, and the value may be missing: see arrived.lua
-- memory is w if the node cannot have forgotten a later value. This is so in two cases: its memory is older than the
-- time for which nodes keep a value, or it stored this value after its memory began. Otherwise memory is -.
-- kind is v for a value, - for none. A node without a value answers version 0.
@HOLDER@
@ARRIVED@
local whole = now - since >= @VALUEUS@
if not old then return 'V' .. (whole and 'w' or '-') .. '000000000000000000000000-' end
whole = whole or sub(old, 1, 16) == since
call('PEXPIRE', KEYS[2], '@VALUEMS@')
return 'V' .. (whole and 'w' or '-') .. sub(old, 17)
