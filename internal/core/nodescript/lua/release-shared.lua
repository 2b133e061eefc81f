-- release-shared: removes a reader. After that, no late acquire or extend of its lease can lock the name again,
-- because seen rises above their stamps. One call may run several releases: see each.lua. Like release, it needs no
-- guard and no window.
-- KEYS, ARGV, Returns as release
-- It removes no other reader, not even one that seems to have expired: a release has no stamp that confirms the node's
-- clock.
local call, sub = redis.call, string.sub
call('EXISTS', 'holdfast:node') -- see hello
local now, evicted
local function clock()
  local t = call('TIME')
  now = t[1] .. sub('00000' .. t[2], -6)
  if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
end

local function one(key, plain, owner, highest, above, never)
  local old = call('GET', key)
  if not old then
    @EVICTED@
    if not now then clock() end
    local lately
    @MISSING@
    if lately then return 'F' end
  end
  @SHARES@
  -- The release ends only a grant whose stamp it covers: see release.lua.
  local mine, tomb = has and has <= highest, above
  -- Usually the lease was never renewed, and nobody waits. Then the argument `above` is just above T, and the script need
  -- not read the clock if this is the last reader: see release.lua.
  local usual = mine and has == highest and before == '' and not waits
  if not usual then
    if not now then clock() end
    if highest - now > 2 * @WINDOW@ then tomb = string.format('%016.0f', now + @WINDOW@) end
    if mine then
      local own = string.format('%016.0f', has + 1)
      if own > tomb then tomb = own end
    end
  end
  if seen > tomb then tomb = seen end
  if waits then redis.pcall('ZREM', key .. ':queue', owner) end
  if not mine then
    if tomb > seen then
      if marked then call('PEXPIRE', hash, '@STAYMS@', 'GT') end
      call('PEXPIRE', key, '@STAYMS@', 'GT')
      if old then
        call('SETRANGE', key, '0', tomb)
      else
        call('SET', key, tomb .. '000000000000000000000000000000000' .. leased, 'PX', '@STAYMS@')
      end
    end
    if never ~= '0' then return 'F' end -- there was no lease
    local value = plain and redis.pcall('GET', plain)
    @GONE@
    return 'F' .. gone
  end
  call('HDEL', hash, owner)
  -- A reader's lease ends all earlier leases of writers. So the script stores the token T of the lease as rleased. It
  -- does not store the highest stamp, because the token of a later writer may be below that stamp.
  if never == '0' and has > rleased then call('HSET', hash, 'seen', rseen .. has) end
  if tomb > seen then call('SETRANGE', key, '0', tomb) end
  if usual and call('HLEN', hash) == 1 then -- only the field seen
    if plain and redis.pcall('GET', plain) == '@MARKER@' then call('DEL', plain) end
    return 'D'
  end
  if not now then clock() end
  @READERS@
  local no, _, live
  no, _, _, _, live = read(hash)
  if no or before ~= '' and now < till then return 'D' end -- a writer has the name, or a claim
  local value, next = plain and redis.pcall('GET', plain), nil
  -- If this was the last reader, the script hands the name on. If other readers remain, it gives claims to readers at
  -- the front of the queue. If the lease seems to have ended long ago, this node's clock is ahead, and the script
  -- makes no claim: see release.lua.
  local sane = now - above <= @QUARANTINE@ or now < ends
  if waits and sane and (not value or value == '@MARKER@') then
    @HANDOFF@
    next = handoff(tomb, leased, rseen > tomb and rseen or tomb, true, live[1])
  end
  if not live[1] and not next and value == '@MARKER@' then call('DEL', plain) end
  return 'D'
end
@EACH@
