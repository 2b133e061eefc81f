-- store: stores a value of a name. It accepts a value only from the holder of the lock.
-- KEYS  1 record  2 value
-- ARGV  1 owner  2 T, the token of the lease  3 stamp  4 the sequence within the lease, eight digits
--       5 kind and bytes: see load.lua
-- Returns D: done | S: the node has a later value of this lease | L, O time, N or C: see holder.lua
--
-- The script compares the sequences of one lease, but not the tokens of different leases. With right clocks the
-- holder's T is the highest. If the clocks of a majority were ahead and came back, a stored value may have a higher T.
-- A script that compared tokens would then refuse every store until the clocks reach that T.
@HOLDER@
if old and sub(old, 17, 32) == ARGV[2] and sub(old, 33, 40) > ARGV[4] then return 'S' end
call('SET', KEYS[2], since .. ARGV[2] .. ARGV[4] .. ARGV[5], 'PX', '@VALUEMS@')
return 'D'
