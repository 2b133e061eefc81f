-- forgot: a part of the scripts, in the place of @FORGOT@. It ends the script if the hash of readers was evicted (`no`
-- is N) or is corrupt (`no` is C). After an eviction it deletes the guard, so that the node stops voting. When the
-- quarantine ends, the leases of the forgotten readers have ended, too.
-- Reads: call, key, no, old, sub
if no == 'N' then
  call('DEL', 'holdfast:node')
  call('SETRANGE', key, '48', sub(old, 49, 49) - 2)
end
if no then return no end
