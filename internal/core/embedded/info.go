package embedded

import (
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// version is the version that `holdfast nodes` prints. The node behaves like this version of the server.
const version = "7.0.15 (embedded)"

// answerInfo answers INFO instead of miniredis, because the INFO of miniredis lacks the fields that admission reads.
// The server calls answerInfo for each command, including commands in scripts.
func (n *Node) answerInfo(c *server.Peer, cmd string, _ ...string) bool {
	if cmd != "INFO" {
		return false
	}
	c.WriteBulk(n.info())
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
