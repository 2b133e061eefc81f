-- acquire: take the name for an owner, or say who has it.
-- KEYS  1 record  2 plain key (absent: a private lock)
-- ARGV  1 the record to store: T T expiry 0 owner  2 ttl, ms  3 how long the record stays, ms
--       4 stamp - W  5 stamp + W
-- Returns G granted | H kind left owner | S seen | P seen | O time | N | C
local call, sub = redis.call, string.sub
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
if now < ARGV[4] or now > ARGV[5] then return 'O' .. now end

local mine, before = ARGV[1], ''
local owner = sub(mine, 50)
local old = call('GET', KEYS[1])
if old then
  if #old < 49 then return 'C' end
  local seen, T, expiry = sub(old, 1, 16), sub(mine, 1, 16), sub(old, 33, 48)
  before = sub(old, 50)
  local live = before ~= '' and now < expiry
  -- A repeated command answers as the first did. A claim has T = 0 and never matches.
  if live and before == owner and sub(old, 17, 32) == T then return 'G' end
  if T <= seen then
    -- A tombstone may run ahead of TIME by W at most; what is further ahead would shut
    -- the name until then if clients followed it.
    if seen > now and seen - now > @WINDOW@ then return 'P' .. seen end
    return 'S' .. seen
  end
  if live and before ~= owner then
    local kind = sub(old, 17, 32) == '0000000000000000' and 'c' or 'l'
    return 'H' .. kind .. string.format('%016.0f', expiry - now) .. before
  end
end

if KEYS[2] and not call('SET', KEYS[2], owner, 'NX', 'PX', ARGV[2]) then
  local v = redis.pcall('GET', KEYS[2])
  if type(v) == 'table' then v = '' end -- another type: Redisson keeps a hash
  if v == '' or (v ~= before and v ~= owner) then
    local left = call('PTTL', KEYS[2])
    if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
    return 'Hf' .. left .. sub(v, 1, 256)
  end
  call('SET', KEYS[2], owner, 'PX', ARGV[2])
end
call('SET', KEYS[1], mine, 'PX', ARGV[3])
return 'G'
