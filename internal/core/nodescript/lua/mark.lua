-- mark: a part of admit and trust, in the place of @MARK@. The mark is a digest of the present memory of a node that
-- has another configuration. After any later loss of memory the mark is different.
local mark = redis.sha1hex(table.concat({ challenge, run, replid, evicted, there or '' }, ' '))
