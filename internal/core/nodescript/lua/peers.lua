-- peers: stores a client's report about the servers that it meets. It returns the members of the node set, and the
-- strangers in the report. Clients send its whole text (EVAL), because peers is not among the loaded scripts.
--
-- The node keeps as many members as the set has nodes. A new server gets a free place. If no place is free, the new
-- server replaces the member that was not seen alive for the longest time, if that time is long enough. Otherwise the
-- new server is a stranger, and clients do not count its vote.
--
-- The time at which a member was last seen never goes back. So a report that comes late or twice cannot make a member
-- look unseen. If that time is ahead of this node's clock, because the clock went back, the member keeps its place.
--
-- ARGV  1 the client's stamp - W  2 the stamp + W  3 configuration  4 number of nodes
--       5 how long the node keeps a member that nobody sees, us  6 expiry of the list, ms
--       7 the id that the client met here; '' if none yet: the node then stores nothing of the report
--       and for each server behind the client's list: id, time at which it was last seen alive, address
-- Returns (id: the id of this server)
--         P time id \n\n: the client met another id
--         | P time id \n strangers' ids, separated by blanks \n for each member: time id address \n
--         | the same with O for P: the stamp is off, and the node stores nothing of the report
--         | M: the node has another configuration
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
for i = 8, #ARGV, 3 do -- members first: a member in the report keeps its place against the report's other servers
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
  call('PEXPIRE', list, ARGV[6]) -- first: a full memory refuses a script whose first write is a SET
  call('SET', list, head .. members, 'PX', ARGV[6])
end
return answer .. (r[2] or '') .. '\n' .. strangers .. '\n' .. members
