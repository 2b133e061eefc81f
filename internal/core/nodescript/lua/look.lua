-- look: answers what a list shows about some locks. It only reads. Clients send its whole text, with EVAL_RO if
-- possible: the server then refuses writes.
-- KEYS for each lock: 1 record  2 plain key  3 queue  4 value
-- Returns memory and a line break (see view.lua), and then for each lock: the size(6) of an answer to inspect and that
-- answer with at most @FEWER@ readers, the number of waiters(6), the ticket of the first waiter(16), and the size(3)
-- of the next field and that field: the kind and the beginning of the value.
@VIEW@
-- A queue may contain bytes that no client of Holdfast wrote. A score that is no ticket would not fit into its field,
-- and would spoil the answers about the other locks. So only scores below are waiters.
local from, to = '0', '9e15'
local out = { string.gsub(memory, '\n', ' ') .. '\n' }
for i = 1, #KEYS, 4 do
  local seen = view(KEYS[i], KEYS[i + 1], @FEWER@)
  local waiters, ticket = redis.pcall('ZCOUNT', KEYS[i + 2], from, to), 0
  if type(waiters) ~= 'number' then waiters = 0 end
  if waiters > 0 then
    ticket = tonumber(redis.pcall('ZRANGEBYSCORE', KEYS[i + 2], from, to, 'WITHSCORES', 'LIMIT', '0', '1')[2] or 0)
  end
  local value = redis.pcall('GET', KEYS[i + 3])
  if type(value) == 'string' then value = sub(value, 41, 41 + @HEADOFVALUE@) else value = '' end
  out[#out + 1] = string.format('%06d', #seen) .. seen .. string.format('%06d', math.min(waiters, 999999))
    .. string.format('%016.0f', ticket) .. string.format('%03d', #value) .. value
end
return table.concat(out)
