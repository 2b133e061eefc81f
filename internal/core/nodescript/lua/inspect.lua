-- inspect: returns the content of a name's keys on this node. It only reads. Clients send its whole text (EVAL),
-- because inspect is not among the loaded scripts.
-- KEYS  1 record  2 plain key
-- Returns time kind votes pttl record-length(6) record plain-length(3) plain rseen rleased number(6) readers
-- A number in parentheses is the length of a field in characters.
-- Each reader is owner-length(3) T expiry owner. number is the number of all readers. At most @LISTED@ readers follow,
-- the lowest T first. If the hash of the readers is corrupt, rseen consists of letters C.
-- kind is - for no plain key, s for a string, or t for another type. votes is v if the node votes under any
-- configuration, else -. A node that does not vote may have forgotten the name. If the node has evicted keys since its
-- admission, votes is -: see evicted.lua.
@VIEW@
return view(KEYS[1], KEYS[2], @LISTED@)
