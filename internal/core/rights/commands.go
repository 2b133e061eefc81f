package rights

import "strings"

// command is a command that some roles need.
type command struct {
	example string // the command and arguments, as ACL DRYRUN takes them
	roles   Role
	durable bool // only if the node set is declared durable; the operator's doctor always needs it
}

const (
	everybody = Locker | Observer | Operator | Admission
	lookers   = Locker | Observer | Operator
	admitters = Locker | Operator | Admission
	listers   = Observer | Operator
	releasers = Locker | Operator
)

// commands are the commands of all roles. HELLO, AUTH, RESET and QUIT need no right on any server.
var commands = []command{
	// Drivers.
	{"CLIENT SETNAME holdfast", everybody, false},
	{"SELECT 1", everybody, false},
	{"PING", everybody, false},
	{"EVAL return 0", everybody, false},
	{"EVAL_RO return 0", listers, false},
	{"EVALSHA x 0", Locker, false},
	{"SCRIPT LOAD x", admitters, false},
	{"SUBSCRIBE holdfast:inbox:x", Locker, false},
	{"CONFIG GET appendonly", Locker | Admission, true},
	{"CONFIG GET appendonly", Operator, false},
	// Scripts.
	{"INFO", everybody, false},
	{"TIME", everybody, false},
	{"EXISTS x", admitters, false},
	{"GET x", everybody, false},
	{"MGET x", Locker, false},
	{"SET x x", admitters, false},
	{"SETRANGE x 0 x", releasers, false},
	{"DEL x", admitters, false},
	{"PEXPIRE x 1", releasers, false},
	{"PTTL x", lookers, false},
	{"HMGET x x", everybody, false},
	{"HGETALL x", lookers, false},
	{"HLEN x", releasers, false},
	{"HSET x x x", admitters, false},
	{"HDEL x x", releasers, false},
	{"ZADD x 1 x", releasers, false},
	{"ZREM x x", releasers, false},
	{"ZRANK x x", Locker, false},
	{"ZRANGE x 0 0", releasers, false},
	{"ZPOPMIN x", releasers, false},
	{"ZSCORE x x", releasers, false},
	{"ZCOUNT x 0 1", lookers, false},
	{"ZRANGEBYSCORE x 0 1", lookers, false},
	{"ZREMRANGEBYSCORE x 0 1", releasers, false},
	{"PUBLISH holdfast:inbox:x x", releasers, false},
	{"PUBSUB NUMSUB holdfast:inbox:x", Locker, false},
	{"SCAN 0", listers, false},
	// The doctor.
	{"SLOWLOG GET 1", Operator, false},
	{"ACL WHOAMI", Operator, false},
	{"ACL DRYRUN x PING", Operator, false},
}

// parents are the commands whose rights are given for each subcommand.
var parents = map[string]bool{"CLIENT": true, "SCRIPT": true, "CONFIG": true, "PUBSUB": true, "SLOWLOG": true, "ACL": true}

// right returns the right to a command in the form of a rule: get, or script|load.
func (c command) right() string {
	words := strings.Fields(strings.ToLower(c.example))
	if parents[strings.ToUpper(words[0])] {
		return words[0] + "|" + words[1]
	}
	return words[0]
}
