-- extend: move a lease's expiry, never back; bring the lease to a node that missed it.
-- KEYS  1 record  2 plain key (absent: a private lock)
-- ARGV  1 owner  2 T  3 stamp + ttl  4 the deadline the owner knows + W  5 how long the record outlives the expiry, ms
--       6 stamp - W  7 stamp + W
-- Returns E extended | R it was not here, and is now | L kind owner | O time | N | C
local call, sub, floor = redis.call, string.sub, math.floor
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
if now < ARGV[6] or now > ARGV[7] then return 'O' .. now end

local owner, T, expiry = ARGV[1], ARGV[2], ARGV[3]
local seen, before, flag, answer = '0000000000000000', '', '0', 'R'
local old = call('GET', KEYS[1])
if old then
  if #old < 49 then return 'C' end
  seen, before, flag = sub(old, 1, 16), sub(old, 50), sub(old, 49, 49)
  local until_ = sub(old, 33, 48)
  if before == owner and sub(old, 17, 32) == T then
    answer = 'E'
    if until_ > expiry then expiry = until_ end
  elseif before ~= '' and before ~= owner and now < until_ then
    return 'Ll' .. before
  end
end
-- Repair: only while no later lease was seen here, and only while the owner itself still
-- believes. A later lease raised seen on a majority, so a dead one is never repaired back.
if answer == 'R' and (seen > T or now > ARGV[4]) then return 'Lg' .. before end

local ms = floor((expiry - now) / 1000) + 1
local v = owner
if KEYS[2] then
  v = redis.pcall('GET', KEYS[2])
  if v and v ~= owner and (v ~= before or v == '') then
    return 'Lf' .. (type(v) == 'string' and sub(v, 1, 256) or '')
  end
end
-- The first write is no SET, which a full memory would refuse.
if KEYS[2] and v == owner then
  call('PEXPIRE', KEYS[2], ms)
elseif old then
  call('DEL', KEYS[1])
end
if v ~= owner then
  answer = 'R'
  call('SET', KEYS[2], owner, 'PX', ms)
end
if seen < T then seen = T end
call('SET', KEYS[1], seen .. T .. expiry .. flag .. owner, 'PX', ms + ARGV[5])
return answer
