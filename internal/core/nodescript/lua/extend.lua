-- extend: moves the expiry of a lease forward, never back. If the node does not have the lease, it stores the lease: a
-- repair. One call may run several extends: see each.lua.
-- KEYS  1 record  2 plain key (absent for a private lock)
-- ARGV  1 owner  2 T, the token of the lease  3 stamp + ttl  4 the deadline that the owner knows + W  5 stamp
-- Returns E: extended | R: repaired, the lease or its plain key was not here
--       | E time, R time: the same, and the stamp is older than W
--       | L kind owner: not repaired; kind is l (another owner), g (a later lease was here, or the deadline has passed),
--         x (an operator has ended the lease) or f (a foreign key)
--       | O time: the stamp is ahead of the node's clock by more than W, or stamp + ttl has passed
--       | N: the node does not vote
--       | C: the record is corrupt
-- A stamp may be older than W: the expiry does not depend on when the request arrives. The time in the answer shows the
-- client by how much the node's clock may be ahead. A repair may be late, too: its two conditions are below.
-- If another owner has a partial grant, the node refuses the repair. It puts the lease first in the queue: see
-- wanted.lua.
local call, sub, floor, evicted = redis.call, string.sub, math.floor, nil
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286

local function one(key, plain, owner, T, expiry, last, stamp)
  local ahead = stamp - now
  if ahead > @WINDOW@ or expiry <= now then return 'O' .. now end
  local late = ahead < -@WINDOW@ and now or ''
  local seen, before, flag, leased, answer = '0000000000000000', '', '0', '0000000000000000', 'R'
  local hash, rseen, rleased, gone -- of readers
  local old = call('GET', key)
  if old then
    if #old < 65 or #old > @LONGEST@ then return 'C' end
    seen, flag, leased = sub(old, 1, 16), sub(old, 49, 49), sub(old, 50, 65)
    if flag ~= '0' and flag ~= '1' then
      if flag ~= '2' and flag ~= '3' then return 'C' end -- of a later version
      hash = key .. ':readers'
    end
    local until_ = sub(old, 33, 48)
    if until_ ~= '0000000000000000' then before = sub(old, 66) end -- it was not released
    if before == owner and sub(old, 17, 32) == T then
      answer = 'E'
      if until_ > expiry then
        if string.find(until_, '%D') then return 'C' end
        expiry = until_
      end
    else
      @FORCED@
      local others
      if before ~= '' and before ~= owner and now < until_ and sub(old, 17, 32) ~= '0000000000000000' then
        others = { { before, sub(old, 17, 32) } }
      elseif before ~= '' and sub(old, 17, 32) > leased then
        leased = sub(old, 17, 32) -- it may have been a lease
      end
      if not others and hash then
        @READERS@
        local no, dead, live
        no, rseen, rleased, dead, live, gone = read(hash)
        @FORGOT@
        if dead > rleased then rleased = dead end
        if live[1] and live[1][2] ~= '0000000000000000' then others = live end
        for i = 1, #live do gone[#gone + 1] = live[i][1] end
      end
      if others then
        @WANTED@
      end
    end
  else
    @EVICTED@
    if evicted then return 'N' end
    local lately
    @MISSING@
    if lately then call('HSET', 'holdfast:node:admission', 'settled', '0') end
  end
  -- A repair needs two conditions: this node granted no later lease, and the owner may still rely on its lease. A
  -- majority granted each later lease, and each node of that majority refuses the repair. So a lease that has ended
  -- never returns on a majority. leased and rleased show whether there was a later lease of a writer or of readers.
  -- seen does not show that: each waiter asks every node and so raises seen, even if it never gets the name.
  if answer == 'R' and (leased > T or now > last or rleased and rleased > T) then return 'Lg' .. before end

  local ms = floor((expiry - now) / 1000) + 1
  local value = owner
  if plain then
    value = redis.pcall('GET', plain)
    if value and value ~= owner and value ~= '@MARKER@' and (value ~= before or value == '') then
      return 'Lf' .. (type(value) == 'string' and sub(value, 1, 256) or '')
    end
  end
  -- The first write must not be a SET, because a server with full memory would refuse the script. It must not be a DEL
  -- either: in a hash slot that is being moved, Redis Cluster refuses each later write of a missing key.
  if plain and value == owner then
    call('PEXPIRE', plain, ms)
  elseif old then
    call('PEXPIRE', key, '@STAYMS@', 'GT')
  end
  if value ~= owner then
    answer = 'R'
    call('SET', plain, owner, 'PX', ms)
  end
  if seen < T then seen = T end
  if rseen then -- expired readers and claims go
    call('HSET', hash, 'seen', rseen .. rleased)
    for i = 1, #gone, 100 do call('HDEL', hash, unpack(gone, i, math.min(i + 99, #gone))) end
  end
  if hash then call('PEXPIRE', hash, '@STAYMS@') end
  call('SET', key, seen .. T .. expiry .. flag .. leased .. owner, 'PX', '@STAYMS@')
  return answer .. late
end
@EACH@
