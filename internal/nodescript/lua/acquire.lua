-- acquire: take the name for an owner, or say who has it. Several at once: see each.lua.
-- KEYS  1 record  2 plain key (absent: a private lock)
-- ARGV  1 the record to store begins with: T T expiry 0; T is the stamp  2 ttl, ms
--       3 '': does not wait | a ticket, 16 digits: joins the queue | longer: the owner in the same process that passes its lease on
--       4 owner
-- Returns G waiting | H kind left rank(6) owner | S seen | P seen | O time | N | C
local call, sub, evicted = redis.call, string.sub, nil
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
local clock = tonumber(now)

local function one(key, plain, mine, ttl, wants, owner)
  local T = sub(mine, 1, 16)
  local ahead = T - clock
  if ahead > @WINDOW@ or ahead < -@WINDOW@ then return 'O' .. now end

  local before, live, waits, seen, leased = '', false, '0', '0000000000000000', '0000000000000000'
  local old = call('GET', key)
  if old then
    if #old < 65 or #old > @LONGEST@ then return 'C' end
    seen, waits, leased = sub(old, 1, 16), sub(old, 49, 49), sub(old, 50, 65)
    local expiry = sub(old, 33, 48)
    if expiry ~= '0000000000000000' then -- it was not released
      before, live = sub(old, 66), now < expiry
      -- A repeated command answers as the first did. A claim has T = 0 and never matches.
      if live and before == owner and sub(old, 17, 32) == T then return 'G' .. waits end
      -- Before the tokens are compared: a waiter whose stamp is a little behind joins the queue all the same.
      if live and before ~= owner and before ~= wants then
        if string.find(expiry, '%D') then return 'C' end
        local kind, rank = 'l', '------'
        if sub(old, 17, 32) == '0000000000000000' then kind = 'c' end
        if #wants == 16 then
          local queue = key .. ':queue'
          call('ZADD', queue, 'NX', wants, owner)
          call('PEXPIRE', queue, '@QUEUEMS@') -- as a string: printing numbers is dear in Redis's Lua
          if waits ~= '1' then call('SET', key, sub(old, 1, 48) .. '1' .. leased .. before, 'KEEPTTL') end
          rank = string.format('%06d', math.min(call('ZRANK', queue, owner), 999999))
        end
        return 'H' .. kind .. string.format('%016.0f', expiry - now) .. rank .. before
      end
      -- Whoever had it did not say that its stamp never won: it may have been a lease.
      if before ~= owner and sub(old, 17, 32) > leased then leased = sub(old, 17, 32) end
    end
    if T <= seen then
      if string.find(seen, '%D') then return 'C' end
      -- What is further ahead of TIME than by W would shut the name until then if clients followed it.
      if seen > now and seen - now > @WINDOW@ then return 'P' .. seen end
      return 'S' .. seen
    end
  else
    @EVICTED@
    if evicted then return 'N' end
  end

  local value, taken = false, waits ~= '1' and plain and call('SET', plain, owner, 'NX', 'PX', ttl)
  if plain and not taken then
    value = redis.pcall('GET', plain)
    if type(value) == 'table' then value = '' end -- another type: Redisson keeps a hash
    if value and (value == '' or (value ~= before and value ~= owner)) then
      local left = call('PTTL', plain)
      if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
      return 'Hf' .. left .. '------' .. sub(value, 1, 256)
    end
  end
  -- Free, but somebody waits: the name goes to the first of the queue, which may be me. My
  -- own claim, and a lease that is passed to me, are mine without a queue.
  if waits == '1' then
    local queue = key .. ':queue'
    if not live then
      if #wants == 16 then call('ZADD', queue, 'NX', wants, owner) end
      local first = call('ZRANGE', queue, 0, 0)[1]
      if first and first ~= owner then
        @HANDOFF@
        -- I may be what it comes to, if those before me are gone: then I hear of it as they would.
        local next = handoff(seen, leased)
        if next then
          local rank = call('ZRANK', queue, owner)
          return 'Hc' .. '@CLAIM16@' .. (rank and string.format('%06d', math.min(rank, 999999)) or '------') .. next
        end
      end
    end
    call('ZREM', queue, owner)
    waits = call('EXISTS', queue) == 1 and '1' or '0'
    mine = sub(mine, 1, 48) .. waits
    if plain then call('SET', plain, owner, 'PX', ttl) end
  elseif plain and not taken then
    call('SET', plain, owner, 'PX', ttl)
  end
  mine = mine .. leased .. owner
  -- Most of what a SET costs is its PX. A record stays for longer than it must, so that it need not
  -- be told again within 100 s, the first eight digits of a token. Its length must be the same.
  if old and #old == #mine and sub(seen, 1, 8) == sub(T, 1, 8) then
    call('SETRANGE', key, '0', mine)
  else
    call('SET', key, mine, 'PX', '@STAYMS@')
  end
  return 'G' .. waits
end
@EACH@
