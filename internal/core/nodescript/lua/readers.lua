-- readers: a part of the scripts, in the place of @READERS@. It reads the readers of a name.
--
-- The readers are in a hash beside the record. The field `seen` contains two tokens: the highest one granted to a
-- reader (rseen), and the highest one that may have been a reader's lease (rleased). Every other field is an owner,
-- with T and expiry. An owner contains a ~, so no owner is called seen. T = 0 marks a claim. The flag of the record
-- says that the hash exists. If it is missing then, it was evicted.
--
-- read returns six values. The first is the letter of an answer (see forgot.lua), or nil. The others are rseen,
-- rleased, the highest T of the expired entries, the live entries, and the owners of the expired entries. Grants come
-- first, by T, and claims last. Each live entry is an owner, T and expiry.
-- Reads: call, now, sub
-- Sets: bytes, read
local function bytes(a, b) -- not a < b, which depends on the server's language
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local function read(hash)
  local all, rseen, rleased, dead, live, gone = call('HGETALL', hash), nil, nil, '0000000000000000', {}, {}
  for i = 1, #all, 2 do
    local who, two = all[i], all[i + 1]
    if #two ~= 32 or #who > @OWNER@ or string.find(two, '%D') then return 'C' end
    local T, ends = sub(two, 1, 16), sub(two, 17)
    if who == 'seen' then
      rseen, rleased = T, ends
    elseif now < ends then
      live[#live + 1] = { who, T, ends }
    else
      gone[#gone + 1] = who
      if T > dead then dead = T end
    end
  end
  if not rseen then return 'N' end
  table.sort(live, function(a, b)
    if a[2] == b[2] then return bytes(a[1], b[1]) end
    if a[2] == '0000000000000000' then return false end
    return b[2] == '0000000000000000' or a[2] < b[2]
  end)
  return nil, rseen, rleased, dead, live, gone
end
