-- scan: answers the next part of the node's keys. It only reads. Clients send its whole text.
-- ARGV  1 the cursor in the last answer; 0 at first  2 the pattern of the keys  3 about how many keys to examine
-- Returns the next cursor (0 at the end), a line break, and for each key its length in four digits and the key
local said = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local out = { said[1] .. '\n' }
for _, key in ipairs(said[2]) do
  if #key < 10000 then out[#out + 1] = string.format('%04d', #key) .. key end
end
return table.concat(out)
