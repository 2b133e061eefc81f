-- mark: a part of admit and trust, in the place of @MARK@. A node whose configuration is not that of the client makes a
-- mark, a digest of its present memory. After any later loss of memory the mark is different.
local mark = redis.sha1hex(table.concat({ challenge, run, replid, evicted, there or '' }, ' '))
