-- mark: a part of admit and trust, in the place of @MARK@. Names the memory of a node that votes under another
-- configuration, as it is: whatever is lost later has another mark.
local mark = redis.sha1hex(table.concat({ challenge, run, replid, evicted, there or '' }, ' '))
