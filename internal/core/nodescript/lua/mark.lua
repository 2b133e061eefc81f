-- mark: a part of admit and trust, in the place of @MARK@. It names the present memory of a node that votes under
-- another configuration. After any later loss of memory the mark is different.
local mark = redis.sha1hex(table.concat({ challenge, run, replid, evicted, there or '' }, ' '))
