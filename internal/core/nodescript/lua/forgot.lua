-- forgot: a part of the scripts, in the place of @FORGOT@. The hash of readers was evicted, or it is corrupt. After an
-- eviction the node stops voting. Nothing that it forgot matters after its quarantine.
if no == 'N' then
  call('DEL', 'holdfast:node')
  call('SETRANGE', key, '48', sub(old, 49, 49) - 2)
end
if no then return no end
