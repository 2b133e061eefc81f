-- release: give the name back, and make sure no late acquire or extend of this lease locks it again.
-- Passes every door: quarantined or late, it still releases.
-- KEYS  1 record  2 plain key (absent: a private lock)
-- ARGV  1 owner  2 the highest stamp sent under it, + 1  3 how long the record stays, ms
-- Returns D it was mine | F it was not | C
local call, sub = redis.call, string.sub
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
local owner, tomb = ARGV[1], ARGV[2]
-- A client whose clock is far ahead must not shut the name until then.
if tomb > now then
  local most = string.format('%016.0f', now + @WINDOW@)
  if tomb > most then tomb = most end
end

local old = call('GET', KEYS[1]) or '0000000000000000000000000000000000000000000000000'
if #old < 49 then return 'C' end
local seen, waits = sub(old, 1, 16), sub(old, 49, 49)
if seen > tomb then tomb = seen end

-- DEL comes before SET: a full memory refuses a script whose first write is a SET. The queue
-- and its news are under pcall: nothing they meet may keep the name from being given back.
-- The owner waits no more: a lease that a renewal brought here may have left it in the queue.
if waits == '1' then redis.pcall('ZREM', KEYS[1] .. ':queue', owner) end
-- Only what was granted to a stamp it covers: of an owner that gave a part back and bids
-- on, a release that comes late must not free the later grant.
if sub(old, 50) == owner and sub(old, 17, 32) < ARGV[2] then
  -- Whatever this node's clock says: what it granted must not be granted or repaired again.
  local own = string.format('%016.0f', sub(old, 17, 32) + 1)
  if own > tomb then tomb = own end
  call('DEL', KEYS[1])
  local plain = KEYS[2] and redis.pcall('GET', KEYS[2])
  if plain == owner then call('DEL', KEYS[2]) end
  call('SET', KEYS[1], tomb .. '00000000000000000000000000000000' .. waits, 'PX', ARGV[3])
  -- A lease that would be long over says that this clock is ahead: a claim by it would shut
  -- the name until then. Who waits asks by itself when a lease is over.
  if waits == '1' and (not plain or plain == owner) and now - ARGV[2] <= @QUARANTINE@ then
    @HANDOFF@
    handoff(tomb)
  end
  return 'D'
end
-- Somebody deleted the record alone: what is left of the owner's is its plain key.
if sub(old, 50) ~= owner and KEYS[2] and redis.pcall('GET', KEYS[2]) == owner then call('DEL', KEYS[2]) end
if tomb > seen then
  local expiry, keep = sub(old, 33, 48), ARGV[3]
  if expiry > now then keep = math.floor((expiry - now) / 1000) + keep end
  call('DEL', KEYS[1])
  call('SET', KEYS[1], tomb .. sub(old, 17), 'PX', keep)
end
return 'F'
