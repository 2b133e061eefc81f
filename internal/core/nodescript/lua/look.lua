-- look: answers what a list of locks shows of some locks. It only reads. Clients send it as text, and EVAL_RO keeps it
-- from writing.
-- KEYS for each lock: 1 record  2 plain key  3 queue  4 value
-- Returns memory, a line break, and for each lock: size(6) of the answer to inspect, that answer with at most @FEWER@
-- readers, the number of waiters(6), the ticket of the first one(16), size(3) of the kind and beginning of the value, and
-- these. See view for memory.
@VIEW@
local out = { memory .. '\n' }
for i = 1, #KEYS, 4 do
  local seen = view(KEYS[i], KEYS[i + 1], @FEWER@)
  local waiters, ticket = redis.pcall('ZCOUNT', KEYS[i + 2], '0', '+inf'), 0
  if type(waiters) ~= 'number' then waiters = 0 end
  if waiters > 0 then
    ticket = tonumber(redis.pcall('ZRANGEBYSCORE', KEYS[i + 2], '0', '+inf', 'WITHSCORES', 'LIMIT', '0', '1')[2] or 0)
  end
  local value = redis.pcall('GET', KEYS[i + 3])
  if type(value) == 'string' then value = sub(value, 41, 41 + @HEADOFVALUE@) else value = '' end
  out[#out + 1] = string.format('%06d', #seen) .. seen .. string.format('%06d', math.min(waiters, 999999))
    .. string.format('%016.0f', ticket) .. string.format('%03d', #value) .. value
end
return table.concat(out)
