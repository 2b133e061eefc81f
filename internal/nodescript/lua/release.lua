-- release: give the name back, and make sure no late acquire or extend of this lease locks it again. Several at once: see each.lua.
-- Passes every door: quarantined or late, it still releases.
-- KEYS  1 record  2 plain key (absent: a private lock)
-- ARGV  1 owner  2 the highest stamp sent under it; 0 declines a claim, and nothing else  3 the same + 1
--       4 '1': none of them ever won a majority; else '0'
-- No stamp confirms the clock here: a record that is there lives for as long as it did, or longer, never less long.
-- Returns D it was mine | F it was not | C
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
    old = '00000000000000000000000000000000000000000000000000000000000000000'
  end
  if #old < 65 or #old > @LONGEST@ then return 'C' end
  local seen, waits, tomb = sub(old, 1, 16), sub(old, 49, 49), above
  -- Only what was granted to a stamp it covers: of an owner that gave a part back and bids
  -- on, a release that comes late must not free the later grant.
  local T, before = sub(old, 17, 32), sub(old, 33, 48) ~= '0000000000000000' and sub(old, 66) or ''
  local mine = before == owner and T <= highest
  -- What this node granted must not be granted or repaired again, whatever its clock says. For a lease
  -- that was never renewed, the usual one, that is all, and the clock is not asked.
  local usual = mine and T == highest and waits ~= '1'
  if not usual then
    if not now then clock() end
    -- A stamp that right nodes take is within W of one of them, and that within W of this one. A client
    -- that is further ahead must not shut the name until then.
    if highest - now > 2 * @WINDOW@ then tomb = string.format('%016.0f', now + @WINDOW@) end
    if mine then
      if string.find(T, '%D') then return 'C' end
      local own = string.format('%016.0f', T + 1)
      if own > tomb then tomb = own end
    end
  end
  local leased, ends = sub(old, 50, 65), tomb
  if seen > tomb then tomb = seen end

  -- What was a lease ends itself and those before it: none of them is repaired here any more, also if this
  -- node did not have it, and its clock is not far behind. What never won ends none.
  if never == '0' and ends > leased and (mine or ends == above) then leased = ends end

  -- DEL or PEXPIRE come first: a full memory refuses a script whose first write is a SET. The queue
  -- and its news are under pcall: nothing they meet may keep the name from being given back.
  -- The owner waits no more: a lease that a renewal brought here may have left it in the queue.
  if waits == '1' then redis.pcall('ZREM', key .. ':queue', owner) end
  local value = plain and redis.pcall('GET', plain)
  if mine then
    if value == owner then call('DEL', plain) else call('PEXPIRE', key, '@STAYMS@', 'GT') end
    if usual then
      call('SETRANGE', key, '0', tomb .. '000000000000000000000000000000000' .. leased) -- what is left of the owner is not read
      return 'D'
    end
    call('SET', key, tomb .. '00000000000000000000000000000000' .. waits .. leased, 'KEEPTTL')
    -- A lease that would be long over says that this clock is ahead: a claim by it would shut
    -- the name until then. Who waits asks by itself when a lease is over. A claim that is declined is
    -- told by its expiry: no stamp is covered.
    local sane = now - above <= @QUARANTINE@ or now < sub(old, 33, 48)
    if waits == '1' and (not value or value == owner) and sane then
      @HANDOFF@
      handoff(tomb, leased)
    end
    return 'D'
  end
  -- Somebody deleted the record alone: what is left of the owner's is its plain key.
  if before ~= owner and value == owner then call('DEL', plain) end
  if tomb > seen or leased > sub(old, 50, 65) then
    call('PEXPIRE', key, '@STAYMS@', 'GT')
    tomb = tomb .. sub(old, 17, 49) .. leased .. sub(old, 66)
    if there then call('SET', key, tomb, 'KEEPTTL') else call('SET', key, tomb, 'PX', '@STAYMS@') end
  end
  return 'F'
end
@EACH@
