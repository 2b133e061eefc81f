-- shard: a part of admit, in the place of @SHARD@, for a shard of a Redis Cluster. The unit of memory is then the hash
-- slot, because a cluster moves slots from shard to shard. Each slot has a guard of its own, and its own admission. The
-- keys of both are in the slot, so they move with its records.
--
-- The client names one slot by its guard. Or it sweeps over many: the first use of one slot shows that the shard has
-- lost its memory, so the others need the same quarantine at the same time. Or it names none, to load the scripts.
-- KEYS   1 the guard of a slot; none for a sweep
-- ARGV   5 with a key: see adopt.lua; without: a run id and the tags of the slots of a sweep, separated by blanks. No
--          master of the cluster has this run id: it is that of a former server of the slots; - for none. In the place of
--          the run id, an operator's mark: the slots with this mark get the configuration of the client.
-- Returns as admit; without a key and without tags R time
--         | S time challenge(40) left and for each letter of R, C, Q, F and X the number(5) of slots with that answer. X is
--           any other answer. challenge is that of the last slot with the answer C; the others have the same if one call noted
--           their loss. left is the longest quarantine.
-- Reads: admit, fmt, now
-- Sets: challenge, count, forsaken, longest, tags
if KEYS[1] then return admit(KEYS[1]) end
if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end
if ARGV[5] == '' then return 'R' .. now end
local count, longest, challenge = { R = 0, C = 0, Q = 0, F = 0, X = 0 }, 0, string.rep('0', 40)
local tags
forsaken, tags = string.match(ARGV[5], '^(%S+) (.*)$')
for tag in string.gmatch(tags, '%S+') do
  local ok, said = pcall(admit, 'holdfast:node{' .. tag .. '}')
  local letter = ok and type(said) == 'string' and string.sub(said, 1, 1) or 'X'
  if not count[letter] then letter = 'X' end
  count[letter] = count[letter] + 1
  if letter == 'C' then challenge = string.sub(said, 18) end
  if letter == 'Q' then longest = math.max(longest, tonumber(string.sub(said, 18, 33))) end
end
return 'S' .. now .. challenge .. fmt('%016.0f', longest)
  .. fmt('%05d%05d%05d%05d%05d', count.R, count.C, count.Q, count.F, count.X)
