-- peers: keeps and answers the members of this node set, from the reports of its clients. Clients send it as text.
--
-- The node keeps as many members as the set has nodes. A member keeps its place against servers that come later.
-- Another server gets a free place. It may also replace the member that was unseen for the longest time, if that time
-- is long enough. A server without a place is a stranger. Clients do not count its vote.
--
-- The time of a last sight never goes back. A time that lies ahead counts as now. So a report that comes late or twice,
-- after the clock went back, takes no place.
--
-- ARGV  1 stamp - W  2 stamp + W, of the client's stamp  3 configuration  4 number of nodes
--       5 how long the node keeps an unseen member, us  6 PX of the list, ms
--       7 the id that the client met here; '' if none yet: the node then stores nothing of the report
--       and for each server behind the client's list: id, time at which it was last seen alive, address
-- Returns P time id \n\n if the client met another id
--         | P time id \n strangers' ids, separated by blanks \n members, as time id address \n each
--         | the same with O for P: the stamp is off, and the node stores nothing of the report
--         | M: the node votes under another configuration
local call, sub = redis.call, string.sub
local list = 'holdfast:node:peers'
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
local intime = now >= ARGV[1] and now <= ARGV[2]
local answer = (intime and 'P' or 'O') .. now
local r = call('HMGET', 'holdfast:node:admission', 'config', 'id')
if r[1] and r[1] ~= ARGV[3] then return 'M' end
-- The client names an id that this node no longer has: it does not know yet that the node lost its memory. The rest of
-- its report may be just as old. So the node stores nothing of it.
local met = ARGV[7] == (r[2] or '')
if not met and ARGV[7] ~= '' then return answer .. (r[2] or '') .. '\n\n' end

local most, over = tonumber(ARGV[4]), string.format('%016.0f', math.max(now - ARGV[5], 0))
local ids, seen, addr = {}, {}, {}
local was, head = redis.pcall('GET', list), ARGV[3] .. '\n'
if type(was) == 'string' and sub(was, 1, #head) == head then
  for at, id, where in string.gmatch(sub(was, #head + 1), '(%d+) (%S+) (%S+)\n') do
    ids[#ids + 1], seen[id], addr[id] = id, at, where
  end
end
for i = 8, #ARGV, 3 do -- members first: a member that was seen keeps its place against others of this list
  local id, at = ARGV[i], ARGV[i + 1]
  if seen[id] and at > seen[id] then seen[id], addr[id] = at, ARGV[i + 2] end
end
local strangers = ''
for i = 8, #ARGV, 3 do
  local id, n = ARGV[i], #ids + 1
  if not seen[id] then
    if n > most then
      n = 1
      for m = 2, most do if seen[ids[m]] < seen[ids[n]] then n = m end end
    end
    if ids[n] and seen[ids[n]] > over then
      strangers = strangers .. id .. ' '
    else
      ids[n], seen[id], addr[id] = id, ARGV[i + 1], ARGV[i + 2]
    end
  end
end

local members = ''
for _, id in ipairs(ids) do members = members .. seen[id] .. ' ' .. id .. ' ' .. addr[id] .. '\n' end
if met and intime and was ~= head .. members then
  call('DEL', list) -- first: a full memory refuses a script whose first write is not a DEL
  call('SET', list, head .. members, 'PX', ARGV[6])
end
return answer .. (r[2] or '') .. '\n' .. strangers .. '\n' .. members
