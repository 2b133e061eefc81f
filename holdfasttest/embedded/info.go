package embedded

import (
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// version is the version that `holdfast nodes` prints. The node behaves like this version of the server.
const version = "7.0.15 (embedded)"

// answer answers some commands before miniredis does. The server calls it for each command, and also for commands in a
// script. The INFO of miniredis has none of the fields that admission reads. Its EVAL_RO refuses TIME and INFO, which a
// real server allows, so a list of locks could not be read: the node runs such a script as EVAL does.
func (n *Node) answer(c *server.Peer, cmd string, args ...string) bool {
	switch cmd {
	case "INFO":
		c.WriteBulk(n.info())
	case "EVAL_RO":
		n.commands.Dispatch(c, append([]string{"EVAL"}, args...))
	default:
		return false
	}
	return true
}

func (n *Node) info() string {
	return strings.Join([]string{
		"# Server", "redis_version:" + version, "redis_mode:standalone", "run_id:" + n.run, "uptime_in_seconds:" + strconv.FormatInt(int64(time.Since(n.started)/time.Second), 10),
		"# Memory", "maxmemory:0", "maxmemory_policy:noeviction",
		"# Persistence", "loading:0", "aof_enabled:0",
		// The count of processed commands includes this INFO.
		"# Stats", "evicted_keys:0", "total_commands_processed:" + strconv.FormatInt(n.asked.Add(1), 10),
		// A replication id changes when data comes from another server. This node never gets data from another server.
		"# Replication", "role:master", "master_replid:" + n.run, "master_replid2:" + strings.Repeat("0", 40),
		"# Cluster", "cluster_enabled:0", "",
	}, "\r\n")
}
