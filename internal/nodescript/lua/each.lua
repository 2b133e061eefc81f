-- each: a part of acquire, release and extend, in the place of @EACH@. Runs `one` for every call that travels in
-- this one: they share its cost, the guard and the clock, nothing else. KEYS and ARGV are those of each call in a row.
-- A single call answers as it is. Of several, each answer has its length before it, three digits, and one that failed
-- is X and the error: whatever becomes of one, the others run.
local width = @WIDTH@
local n = #ARGV / width
if n == 1 then return one(KEYS[1], KEYS[2], unpack(ARGV)) end
local keys, out, size = #KEYS / n, {}, { '001', '002' }
for i = 0, n - 1 do
  local k, a = i * keys, i * width
  local ok, said = pcall(one, KEYS[k + 1], keys == 2 and KEYS[k + 2] or nil, unpack(ARGV, a + 1, a + width))
  if not ok then said = 'X' .. sub(type(said) == 'table' and said.err or tostring(said), 1, 900) end
  out[i + 1] = (size[#said] or string.format('%03d', #said)) .. said
end
return table.concat(out)
