-- inspect: returns the content of a name's keys on this node. It only reads. Clients send the whole text (EVAL),
-- because inspect is not loaded.
-- KEYS  1 record  2 plain key
-- Returns time kind votes pttl record-length(6) record plain-length(3) plain rseen rleased number(6) readers
-- A number in parentheses is the length of a field in characters.
-- A reader is owner-length(3) T expiry owner. number counts all readers, and at most @LISTED@ of them follow, the lowest T
-- first. If the readers are corrupt, rseen consists of C.
-- kind is - none, s string, or t another type. votes is v if the node votes, whatever its configuration, else -. A node
-- that does not vote may have forgotten the name. A node that evicted keys since its admission counts as one that does
-- not vote: see evicted.
@VIEW@
return view(KEYS[1], KEYS[2], @LISTED@)
