-- store: writes the value of a name's register. Only the holder of the lock may write.
-- KEYS  1 record  2 value
-- ARGV  1 owner  2 T, the token of the lease  3 stamp  4 the sequence within the lease, eight digits
--       5 kind and bytes: see load
-- Returns D: done | S: the node has a later value of this lease | L, O time, N or C: see holder.lua
-- The holder's T is above the T of each earlier holder. So the script compares only the sequences of one lease. If a
-- stored value has a higher T, the clocks of a majority were ahead when it was written. If the script compared tokens,
-- it would refuse every store until that time.
@HOLDER@
if old and sub(old, 17, 32) == ARGV[2] and sub(old, 33, 40) > ARGV[4] then return 'S' end
call('SET', KEYS[2], since .. ARGV[2] .. ARGV[4] .. ARGV[5], 'PX', '@VALUEMS@')
return 'D'
