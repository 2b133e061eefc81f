-- acquire: take the name for an owner, or say who has it.
-- KEYS  1 record  2 plain key (absent: a private lock)
-- ARGV  1 the record to store: T T expiry 0 owner  2 ttl, ms  3 how long the record stays, ms
--       4 stamp - W  5 stamp + W  6 ticket, 16 digits, or '': does not wait
--       7 from: the owner in the same process that passes its lease on, or ''
-- Returns G waiting | H kind left rank(6) owner | S seen | P seen | O time | N | C
local call, sub = redis.call, string.sub
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
if now < ARGV[4] or now > ARGV[5] then return 'O' .. now end

local mine, before, live, waits, seen = ARGV[1], '', false, '0', '0000000000000000'
local owner = sub(mine, 50)
local old = call('GET', KEYS[1])
if old then
  if #old < 49 then return 'C' end
  local T, expiry = sub(mine, 1, 16), sub(old, 33, 48)
  seen, waits, before = sub(old, 1, 16), sub(old, 49, 49), sub(old, 50)
  live = before ~= '' and now < expiry
  -- A repeated command answers as the first did. A claim has T = 0 and never matches.
  if live and before == owner and sub(old, 17, 32) == T then return 'G' .. waits end
  -- Before the tokens are compared: a waiter whose stamp is a little behind joins the queue all the same.
  if live and before ~= owner and before ~= ARGV[7] then
    local kind, rank = 'l', '------'
    if sub(old, 17, 32) == '0000000000000000' then kind = 'c' end
    if ARGV[6] ~= '' then
      local queue = KEYS[1] .. ':queue'
      call('ZADD', queue, 'NX', ARGV[6], owner)
      call('PEXPIRE', queue, @QUEUEMS@)
      if waits ~= '1' then call('SET', KEYS[1], sub(old, 1, 48) .. '1' .. before, 'KEEPTTL') end
      rank = string.format('%06d', math.min(call('ZRANK', queue, owner), 999999))
    end
    return 'H' .. kind .. string.format('%016.0f', expiry - now) .. rank .. before
  end
  if T <= seen then
    -- A tombstone may run ahead of TIME by W at most; what is further ahead would shut
    -- the name until then if clients followed it.
    if seen > now and seen - now > @WINDOW@ then return 'P' .. seen end
    return 'S' .. seen
  end
end

local plain = false
if KEYS[2] then
  plain = waits == '1' and redis.pcall('GET', KEYS[2]) or false
  if waits ~= '1' and not call('SET', KEYS[2], owner, 'NX', 'PX', ARGV[2]) then plain = redis.pcall('GET', KEYS[2]) end
  if type(plain) == 'table' then plain = '' end -- another type: Redisson keeps a hash
  if plain and (plain == '' or (plain ~= before and plain ~= owner)) then
    local left = call('PTTL', KEYS[2])
    if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
    return 'Hf' .. left .. '------' .. sub(plain, 1, 256)
  end
end
-- Free, but somebody waits: the name goes to the first of the queue, which may be me. My
-- own claim, and a lease that is passed to me, are mine without a queue.
if waits == '1' then
  local queue = KEYS[1] .. ':queue'
  if not live then
    if ARGV[6] ~= '' then call('ZADD', queue, 'NX', ARGV[6], owner) end
    local first = call('ZRANGE', queue, 0, 0)[1]
    if first and first ~= owner then
      @HANDOFF@
      -- I may be what it comes to, if those before me are gone: then I hear of it as they would.
      local next = handoff(seen)
      if next then
        local rank = call('ZRANK', queue, owner)
        return 'Hc' .. '@CLAIM16@' .. (rank and string.format('%06d', math.min(rank, 999999)) or '------') .. next
      end
    end
  end
  call('ZREM', queue, owner)
  waits = call('EXISTS', queue) == 1 and '1' or '0'
  mine = sub(mine, 1, 48) .. waits .. owner
  if KEYS[2] then call('SET', KEYS[2], owner, 'PX', ARGV[2]) end
elseif plain then
  call('SET', KEYS[2], owner, 'PX', ARGV[2])
end
call('SET', KEYS[1], mine, 'PX', ARGV[3])
return 'G' .. waits
