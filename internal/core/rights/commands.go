package rights

import "strings"

// command is a command that some roles need.
type command struct {
	example string // the command and arguments, as ACL DRYRUN takes them
	roles   Role
	need    need
}

// need says for which node sets a command is needed.
type need uint8

const (
	always      need = iota
	ifDurable        // the node set is declared durable; the operator's doctor always needs these commands
	ifConfirmed      // the URLs have wait=N
	ifSharded        // the nodes are a Redis Cluster
	ifNumbered       // the nodes are none, so they have databases with numbers
)

const (
	everybody = Locker | Observer | Operator | Admission
	lookers   = Locker | Observer | Operator
	admitters = Locker | Operator | Admission
	listers   = Observer | Operator
	releasers = Locker | Operator
)

// commands are the commands of all roles. HELLO, AUTH, RESET and QUIT need no right on any server.
var commands = []command{
	// These are commands of the drivers.
	{"CLIENT SETNAME holdfast", everybody, always},
	{"SELECT 1", everybody, ifNumbered},
	{"PING", everybody, always},
	{"EVAL return 0", everybody, always},
	{"EVAL_RO return 0", listers, always},
	{"EVALSHA x 0", Locker, always},
	{"SCRIPT LOAD x", admitters, always},
	{"SUBSCRIBE holdfast:inbox:x", Locker, always},
	{"CONFIG GET appendonly", Locker | Admission, ifDurable},
	{"CONFIG GET appendonly", Operator, always},
	{"WAIT 1 1", Locker, ifConfirmed},
	{"CLUSTER NODES", everybody, ifSharded},
	// These are commands of the scripts.
	{"INFO", everybody, always},
	{"TIME", everybody, always},
	{"EXISTS x", admitters, always},
	{"GET x", everybody, always},
	{"MGET x", Locker, always},
	{"SET x x", admitters, always},
	{"SETRANGE x 0 x", releasers, always},
	{"DEL x", admitters, always},
	{"PEXPIRE x 1", releasers, always},
	{"PTTL x", lookers, always},
	{"HMGET x x", everybody, always},
	{"HGETALL x", lookers, always},
	{"HLEN x", releasers, always},
	{"HSET x x x", admitters, always},
	{"HDEL x x", releasers, always},
	{"HDEL x x", Admission, ifSharded},
	{"ZADD x 1 x", releasers, always},
	{"ZREM x x", releasers, always},
	{"ZRANK x x", Locker, always},
	{"ZRANGE x 0 0", releasers, always},
	{"ZPOPMIN x", releasers, always},
	{"ZSCORE x x", releasers, always},
	{"ZCOUNT x 0 1", lookers, always},
	{"ZRANGEBYSCORE x 0 1", lookers, always},
	{"ZREMRANGEBYSCORE x 0 1", releasers, always},
	{"PUBLISH holdfast:inbox:x x", releasers, always},
	{"PUBSUB NUMSUB holdfast:inbox:x", Locker, always},
	{"SCAN 0", listers, always},
	// These are commands of holdfast doctor.
	{"SLOWLOG GET 1", Operator, always},
	{"ACL WHOAMI", Operator, always},
	{"ACL DRYRUN x PING", Operator, always},
}

// parents are the commands whose rights are given for each subcommand.
var parents = map[string]bool{"CLIENT": true, "SCRIPT": true, "CONFIG": true, "PUBSUB": true, "SLOWLOG": true, "ACL": true, "CLUSTER": true}

// right returns the right to a command in the form of a rule: get, or script|load.
func (c command) right() string {
	words := strings.Fields(strings.ToLower(c.example))
	if parents[strings.ToUpper(words[0])] {
		return words[0] + "|" + words[1]
	}
	return words[0]
}
