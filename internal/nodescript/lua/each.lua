-- each: a part of acquire, release and extend, in the place of @EACH@. Runs `one` for every call that travels in
-- this one: they share its cost, the guard and the clock, nothing else. KEYS and ARGV are those of each call in a row.
-- A single call answers as it is. Of several come the lengths of all answers, three digits each, and then the answers; one
-- that failed is X and the error. Whatever becomes of one, the others run. An answer may quote what somebody stored: the
-- lengths come first, where no stored byte can be, and none is longer than three digits can say.
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
