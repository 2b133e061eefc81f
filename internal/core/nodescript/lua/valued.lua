-- valued: lists the keys of all values, some keys at a time. It only reads. Clients send it as text.
-- ARGV  1 the cursor of the last answer; 0 at first
-- Returns the next cursor (0 at the end) and a line break. Then come the keys, each after its length in four digits
local said = redis.call('SCAN', ARGV[1], 'MATCH', '*:holdfast:value', 'COUNT', '500')
local out = { said[1] .. '\n' }
for _, key in ipairs(said[2]) do
  if #key < 10000 then out[#out + 1] = string.format('%04d', #key) .. key end
end
return table.concat(out)
