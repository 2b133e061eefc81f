-- force: ends the lease of an owner for an operator. It is a part of release, release-shared and releaseslot, in the place
-- of @EACH@. It gives the grant back as a release of the owner would: the token is the highest stamp. It also notes the
-- owner. Clients send it as text.
--
-- The note is a second tombstone. The owner does not know that its lease has ended, so its renewals go on, with stamps
-- above the token. A renewal that finds the note is refused and says why: see forced. A late release of the owner names
-- the stamps of those renewals. It must not end the lease of a later owner: see release.
-- KEYS, ARGV, Returns as the script of which it is a part
local give = one
one = function(key, other, owner, highest, ...)
  local said = give(key, other, owner, highest, ...)
  if said ~= 'C' then
    local notes = key .. ':forced'
    call('HDEL', notes, owner) -- first: a full memory refuses a script whose first write is a HSET
    call('HSET', notes, owner, highest)
    call('PEXPIRE', notes, '@STAYMS@')
  end
  return said
end
