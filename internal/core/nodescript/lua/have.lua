-- have: answers which keys exist: one digit for each key, 1 or 0. It only reads. Clients send the whole text.
-- KEYS  the keys
redis.pcall('EXISTS', 'holdfast:node') -- before the records: see hello
local out = {}
for i, key in ipairs(KEYS) do out[i] = redis.call('EXISTS', key) end
return table.concat(out)
