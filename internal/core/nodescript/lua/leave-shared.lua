-- leave-shared: ends the lease of a reader, but keeps the name shared until an instant, under another owner. Nobody can
-- extend the lease of that owner. Like release, it needs no guard and no window. Here T is the highest stamp that was
-- sent for the old owner. Otherwise a late extend could put the old owner back among the readers: the tombstone must
-- cover all its stamps. During a downgrade the token of the entry may be below T, because the entry may be from an
-- earlier request. KEYS, ARGV, Returns as leave, apart from T
local call, sub = redis.call, string.sub
call('EXISTS', 'holdfast:node') -- see hello
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
local key, plain, owner, T = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local old = call('GET', key)
@SHARES@
local function lost()
  local value = plain and redis.pcall('GET', plain)
  @GONE@
  return 'L' .. gone
end
if not marked then return lost() end
local left = call('HMGET', hash, ARGV[4])[1]
if left and sub(left, 1, 16) <= T then return 'D' end -- repeated
if not has or has > T or has == '0000000000000000' then return lost() end
call('HDEL', hash, owner)
call('HSET', hash, ARGV[4], has .. ARGV[3])
local tomb = string.format('%016.0f', T + 1)
if tomb > seen then call('SETRANGE', key, '0', tomb) end
call('PEXPIRE', hash, '@STAYMS@', 'GT')
call('PEXPIRE', key, '@STAYMS@', 'GT')
if plain and redis.pcall('GET', plain) == '@MARKER@' then
  call('PEXPIRE', plain, math.max(math.floor((ARGV[3] - now) / 1000) + 1, 1), 'GT')
end
return 'D'
