-- leave: ends a lease, but keeps the name taken until an instant. It stores the name under another owner. So a late
-- renewal of the lease cannot extend that time. Like release, it needs no guard and no window, because it changes only
-- the owner's own lease.
-- KEYS  1 record  2 plain key (absent for a private lock)
-- ARGV  1 owner  2 T, the token of the lease  3 the end, in stamp time  4 the owner under which the name stays taken
-- Returns D: done | L, L kind owner: the node does not have the lease; see gone
local call, sub = redis.call, string.sub
call('EXISTS', 'holdfast:node') -- see hello
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
local owner, T, expiry = ARGV[1], ARGV[2], ARGV[3]
local old = call('GET', KEYS[1])
if old and sub(old, 66) == ARGV[4] and sub(old, 17, 32) == T then return 'D' end -- repeated
if not old or sub(old, 66) ~= owner or sub(old, 17, 32) ~= T then
  local key, before, till, own = KEYS[1], '', '', ''
  if old and #old >= 65 and #old <= @LONGEST@ and string.find(sub(old, 49, 49), '[0-3]') then
    till, own = sub(old, 33, 48), sub(old, 17, 32)
    if till ~= '0000000000000000' then before = sub(old, 66) end -- it was not released
  end
  local value = KEYS[2] and redis.pcall('GET', KEYS[2])
  @GONE@
  return 'L' .. gone
end

-- The lease ends now. When the name is free again, a late acquire or renewal of this lease must not lock it. So seen
-- and leased become higher than the token of the lease, as after a release.
local own = string.format('%016.0f', T + 1)
local seen, leased = sub(old, 1, 16), sub(old, 50, 65)
if own > seen then seen = own end
if own > leased then leased = own end
local ms = math.max(math.floor((expiry - now) / 1000) + 1, 1)
call('PEXPIRE', KEYS[1], '@STAYMS@', 'GT') -- first: see release
if KEYS[2] and redis.pcall('GET', KEYS[2]) == owner then call('SET', KEYS[2], ARGV[4], 'PX', ms) end
if sub(old, 49, 49) == '2' or sub(old, 49, 49) == '3' then call('PEXPIRE', KEYS[1] .. ':readers', '@STAYMS@', 'GT') end
call('SET', KEYS[1], seen .. T .. expiry .. sub(old, 49, 49) .. leased .. ARGV[4], 'KEEPTTL')
return 'D'
