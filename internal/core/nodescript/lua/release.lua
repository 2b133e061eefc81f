-- release: gives the name back. After that, no late acquire or extend of this lease can lock the name again. One call
-- may run several releases: see each.lua. release needs no guard and no window: it also works during a quarantine, and
-- when it comes late.
-- KEYS  1 record  2 plain key (absent for a private lock)
-- ARGV  1 owner  2 the highest stamp sent for this owner; 0 declines a claim and does nothing else  3 the same + 1
--       4 '1': none of these stamps won a majority; else '0'
-- release has no stamp that could confirm this node's clock. So it never shortens the life of an existing record.
-- Returns D: the owner had it here | F, F kind owner: the owner did not have it here; see gone | C: the record is
-- corrupt
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
  local there = old
  if not old then
    @EVICTED@
    if not now then clock() end
    local lately
    @MISSING@
    if lately then return 'F' end
    old = '00000000000000000000000000000000000000000000000000000000000000000'
  end
  if #old < 65 or #old > @LONGEST@ then return 'C' end
  local seen, flag, tomb = sub(old, 1, 16), sub(old, 49, 49), above
  local waits, hash = false, nil
  if flag ~= '0' then
    if flag ~= '1' then
      if flag ~= '2' and flag ~= '3' then return 'C' end -- of a later version
      hash = key .. ':readers' -- there are readers, or were
    end
    waits = flag ~= '2'
  end
  -- The release ends only a grant whose stamp it covers. An owner may give a partial grant back and then try again.
  -- Without this check, a late release of the first round would free the grant of the later round.
  local T, before = sub(old, 17, 32), sub(old, 33, 48) ~= '0000000000000000' and sub(old, 66) or ''
  local mine = before == owner and T <= highest
  -- This node must not grant or repair the lease again, whatever its clock shows. So the tombstone must be above the
  -- stamp T of the grant. If the lease was never renewed, the argument `above` is just above T, and the script need
  -- not read the clock.
  local usual = mine and T == highest and flag == '0'
  if not usual then
    if not now then clock() end
    -- A node with a right clock accepts a stamp only within W of its clock, and that clock differs from this node's by
    -- at most W. So a stamp that is more than 2 W ahead of this clock comes from a client with a wrong clock. Without
    -- a limit, its tombstone would block the name until that time.
    if highest - now > 2 * @WINDOW@ then tomb = string.format('%016.0f', now + @WINDOW@) end
    if mine then
      if string.find(T, '%D') then return 'C' end
      local own = string.format('%016.0f', T + 1)
      if own > tomb then tomb = own end
    end
  end
  local leased, ends = sub(old, 50, 65), tomb
  if seen > tomb then tomb = seen end

  -- The release of a lease ends this lease and all earlier ones: this node no longer repairs any of them. This is so
  -- even if this node did not have the lease, unless the node's clock is far behind. An attempt that never won ends no
  -- lease. If an operator has ended the lease, a later owner may have a token below the stamps of this release. The
  -- lease of that owner must stay: see force.lua.
  if never == '0' and ends > leased and (mine or ends == above and not redis.pcall('HMGET', key .. ':forced', owner)[1]) then leased = ends end

  -- DEL or PEXPIRE comes first, because a server with full memory refuses a script whose first write is a SET. The
  -- queue and its messages are used with pcall, because no content of the queue may prevent the release. The owner
  -- also leaves the queue: if a renewal stored the lease here, the owner may still have a place there.
  if waits then redis.pcall('ZREM', key .. ':queue', owner) end
  local value = plain and redis.pcall('GET', plain)
  if mine then
    if value ~= owner then call('PEXPIRE', key, '@STAYMS@', 'GT') end
    if usual then
      if value == owner then call('DEL', plain) end
      call('SETRANGE', key, '0', tomb .. '000000000000000000000000000000000' .. leased) -- nobody reads the rest
      return 'D'
    end
    local readers, next = hash, nil
    if hash and never == '0' and T ~= '0000000000000000' then
      hash = nil -- its grant ended all readers here, and seen and leased are above them now
    elseif hash then
      call('PEXPIRE', hash, '@STAYMS@', 'GT') -- the readers must not expire before the record
    end
    flag = (waits and 1 or 0) + (hash and 2 or 0)
    local new = tomb .. '00000000000000000000000000000000' .. flag .. leased
    if not waits then
      if value == owner then call('DEL', plain) end
      if readers and not hash then call('DEL', readers) end
      call('SET', key, new, 'KEEPTTL')
      return 'D'
    end
    call('SET', key, new, 'KEEPTTL')
    -- If the lease seems to have ended long ago, this node's clock is ahead. A claim by this clock would block the name
    -- until that time, so the script makes no claim. Waiters ask again anyway when a lease ends. A decline has no stamp
    -- from which the script could see that, so for a declined claim it looks at the expiry of the claim instead.
    local sane = now - above <= @QUARANTINE@ or now < sub(old, 33, 48)
    if (not value or value == owner) and sane then
      @HANDOFF@
      next = handoff(tomb, leased, tomb, hash)
    end
    -- Only now, because the hand-off writes these keys: see extend.
    if value == owner and not next then call('DEL', plain) end
    if readers and not hash and not (next and sub(next, -2) == '~r') then call('DEL', readers) end
    return 'D'
  end
  if tomb > seen or leased > sub(old, 50, 65) then
    if hash then call('PEXPIRE', hash, '@STAYMS@', 'GT') end
    call('PEXPIRE', key, '@STAYMS@', 'GT')
    local new = tomb .. sub(old, 17, 49) .. leased .. sub(old, 66)
    if there then call('SET', key, new, 'KEEPTTL') else call('SET', key, new, 'PX', '@STAYMS@') end
  end
  -- If readers have the name, a writer that leaves the queue lets the readers directly behind it get claims.
  if flag == '3' and not (before ~= '' and now < sub(old, 33, 48)) then
    @HANDOFF@
    handoff(tomb, leased, tomb, true, true)
  end
  -- Somebody has deleted only the record, and the owner's plain key still exists.
  if before ~= owner and value == owner then call('DEL', plain) end
  if never ~= '0' then return 'F' end -- there was no lease
  local till, own = sub(old, 33, 48), T
  @GONE@
  return 'F' .. gone
end
@EACH@
