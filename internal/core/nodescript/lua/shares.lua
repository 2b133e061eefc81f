-- shares: a part of acquire-shared, extend-shared, release-shared and leave-shared, in the place of @SHARES@. It reads
-- the record of a name, and the entry of the reader `owner`. If there is no record, its fields are zeros. @NONE@ is
-- the script's answer if the node has forgotten the readers.
-- Reads: call, key, old, owner, sub
-- Sets: before, ends, flag, has, hash, leased, marked, own, rleased, rseen, seen, till, waits
local seen, flag, leased, before, till = '0000000000000000', '0', '0000000000000000', '', '0000000000000000'
local rseen, rleased, has, ends = seen, seen, nil, nil -- has and ends: T and expiry of the owner's entry
local hash, marked, waits, own = key .. ':readers', false, false, nil
if old then
  if #old < 65 or #old > @LONGEST@ then return 'C' end
  seen, flag, leased, till = sub(old, 1, 16), sub(old, 49, 49), sub(old, 50, 65), sub(old, 33, 48)
  if flag ~= '0' and flag ~= '1' and flag ~= '2' and flag ~= '3' then return 'C' end -- of a later version
  if till ~= '0000000000000000' then before, own = sub(old, 66), sub(old, 17, 32) end -- it was not released
  marked, waits = flag == '2' or flag == '3', flag == '1' or flag == '3'
end
if marked then
  local got = call('HMGET', hash, 'seen', owner)
  if not got[1] then -- evicted: see readers.lua
    call('DEL', 'holdfast:node')
    call('SETRANGE', key, '48', flag - 2)
    return '@NONE@'
  end
  if #got[1] ~= 32 or string.find(got[1], '%D') then return 'C' end
  rseen, rleased = sub(got[1], 1, 16), sub(got[1], 17)
  if got[2] then
    if #got[2] ~= 32 or string.find(got[2], '%D') then return 'C' end
    has, ends = sub(got[2], 1, 16), sub(got[2], 17)
  end
end
