-- extend-shared: moves the expiry of a reader's lease forward, never back. If the node does not have the lease, it
-- stores the lease: a repair. One call may run several extends: see each.lua.
-- KEYS, ARGV, Returns as extend
local call, sub, floor, evicted = redis.call, string.sub, math.floor, nil
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286

local function one(key, plain, owner, T, expiry, last, stamp)
  local ahead = stamp - now
  if ahead > @WINDOW@ or expiry <= now then return 'O' .. now end
  local late = ahead < -@WINDOW@ and now or ''
  local old = call('GET', key)
  @SHARES@
  if not old then
    @EVICTED@
    if evicted then return 'N' end
    local lately
    @MISSING@
    if lately then call('HSET', 'holdfast:node:admission', 'settled', '0') end
  end
  if old and has ~= T then
    @FORCED@
  end
  local answer = 'R'
  if before ~= '' and now < till and own ~= '0000000000000000' then
    local others = { { before, own } } -- a writer has a partial grant, or a later lease
    @WANTED@
  end
  if own and own > leased then leased = own end -- it may have been a lease
  if has == T then
    answer = 'E'
    if ends > expiry then expiry = ends end
  elseif leased > T or now > last or stamp <= seen or has and has > T then
    -- A repair needs three conditions. No later writer had a lease here. The owner may still rely on its lease. And
    -- the owner sent no release after this request: a release raises seen above all stamps that its owner sent before.
    -- Other owners may have raised seen, too, and the repair is then refused for no need. The next renewal has a
    -- higher stamp and repairs it.
    return 'Lg' .. before
  end
  local ms = floor((expiry - now) / 1000) + 1
  local value = '@MARKER@'
  if plain then
    value = redis.pcall('GET', plain)
    if value and value ~= '@MARKER@' and (value ~= before or value == '') then
      return 'Lf' .. (type(value) == 'string' and sub(value, 1, 256) or '')
    end
  end
  local stale = not marked and call('HGETALL', hash) -- before all writes: see acquire-shared
  -- The first write must be neither a SET nor a DEL: see extend.
  if plain and value == '@MARKER@' then
    call('PEXPIRE', plain, ms, 'GT')
  elseif old then
    call('PEXPIRE', key, '@STAYMS@', 'GT')
  end
  if value ~= '@MARKER@' then
    answer = 'R'
    call('SET', plain, '@MARKER@', 'PX', ms)
  end
  if T > rseen then rseen = T end
  call('HSET', hash, 'seen', rseen .. rleased, owner, T .. expiry)
  for i = 1, stale and #stale or 0, 2 do -- somebody has deleted only the record
    if stale[i] ~= 'seen' and stale[i] ~= owner then call('HDEL', hash, stale[i]) end
  end
  call('PEXPIRE', hash, '@STAYMS@')
  -- A writer's claim is not a grant, so this lease replaces it. The fields of the writer become zeros: the lease of an
  -- expired writer must not be extended after this.
  call('SET', key, seen .. '00000000000000000000000000000000' .. (waits and '3' or '2') .. leased, 'PX', '@STAYMS@')
  return answer .. late
end
@EACH@
