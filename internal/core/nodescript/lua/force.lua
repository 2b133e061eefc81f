-- force: ends the lease of an owner for an operator. It is a part of release, release-shared and releaseslot, in the
-- place of @EACH@. It gives the grant back as a release by the owner would, with the token as the highest stamp. It
-- also stores a note about the owner: the token. Clients send the whole text (EVAL).
--
-- The note is a second tombstone. The owner does not know that its lease has ended, so it continues to send renewals,
-- with stamps above the token. A renewal that finds the note is refused, with the reason: see forced.lua. When the
-- owner later sends a release, that release covers the stamps of these renewals. Because of the note, it does not end
-- the lease of a later owner: see release.lua.
-- KEYS, ARGV, Returns as the script of which it is a part
-- Reads: call, one
-- Sets: give, one
local give = one
one = function(key, other, owner, highest, ...)
  -- The notes come first: if their key has another type, the script fails here, and has written nothing yet.
  local notes = key .. ':forced'
  local noted = call('HMGET', notes, owner)[1]
  local said = give(key, other, owner, highest, ...)
  if said ~= 'C' then
    if noted and noted > highest then highest = noted end -- an operator may repeat an older release late
    call('PEXPIRE', notes, '@STAYMS@') -- first: a full memory refuses a script whose first write is a HSET
    call('HSET', notes, owner, highest)
    call('PEXPIRE', notes, '@STAYMS@')
  end
  return said
end
