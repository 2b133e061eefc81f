-- each: a part of acquire, release and extend, in the place of @EACH@. It runs the function `one` for every call that
-- is in this script call. The calls share only the cost of the script call, the check of the guard and the reading of
-- the clock.
-- KEYS and ARGV contain the keys and arguments of all calls, one call after the other.
--
-- If there is one call, the script returns its answer unchanged. If there are several, the reply begins with the
-- lengths of all answers, three digits each, and the answers follow. A call that fails has the answer X and the error.
-- It does not stop the others.
--
-- An answer may quote bytes that somebody else has stored. Because the lengths come first, these bytes cannot look
-- like a length. A length has three digits, so the script cuts an answer after 999 bytes.
-- Reads: one, sub
-- Sets: keys, n, out, size, sizes, width
local width = @WIDTH@
local n = #ARGV / width
if n == 1 then return one(KEYS[1], KEYS[2], unpack(ARGV)) end
local keys, sizes, out, size = #KEYS / n, {}, {}, { '001', '002' }
for i = 0, n - 1 do
  local k, a = i * keys, i * width
  local ok, said = pcall(one, KEYS[k + 1], keys == 2 and KEYS[k + 2] or nil, unpack(ARGV, a + 1, a + width))
  if not ok then said = 'X' .. (type(said) == 'table' and said.err or tostring(said)) end
  local head = size[#said]
  if not head then
    said = sub(said, 1, 999)
    head = string.format('%03d', #said)
  end
  sizes[i + 1], out[i + 1] = head, said
end
return table.concat(sizes) .. table.concat(out)
