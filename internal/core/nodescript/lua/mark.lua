-- mark: a part of admit and trust, in the place of @MARK@. A node that refuses a client with another configuration
-- names this mark. It is a digest of the node's present memory, so it changes with any later loss of memory.
-- Reads: challenge, evicted, replid, run, there
-- Sets: mark
local mark = redis.sha1hex(table.concat({ challenge, run, replid, evicted, there or '' }, ' '))
