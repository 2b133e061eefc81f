package node

import (
	"fmt"
	"time"
)

// Replicated is a [Node] whose driver can follow a change of the master: a replica takes the place of the master behind
// one address. Sentinel and most managed services make such changes.
type Replicated interface {
	Node

	// Replication returns the program's declaration about the replicas of this node. It is constant.
	Replication() Replication
}

// Replication declares that the master behind an address may change.
//
// The driver of a declared node meets each master before it sends calls to it. If another master answers, the driver
// drops every connection to the former master. It then answers NOSCRIPT to EvalSHA until an Eval has met the new
// master. So Holdfast admits the new master, and finds that it may have forgotten locks.
type Replication struct {
	// Declared is true if the master may change. The other fields then have a meaning.
	Declared bool

	// Replicas is the number of replicas that must have a grant before it counts (the command WAIT). 0 asks none.
	Replicas int

	// Within is the time limit for these replicas. It must be shorter than the client's NodeTimeout.
	Within time.Duration
}

// NamedFor is how long a driver that appends the epoch of a failover to calls (see [Call.Epoch]) uses a master after
// its last question that a majority of the Sentinels answered with this master and this epoch. After that it sends no
// EvalSHA before it has asked again. The quarantine of the next master depends on it.
const NamedFor = time.Second

// DefaultWithin is the time limit for replicas if the program declares none.
const DefaultWithin = 100 * time.Millisecond

// mostReplicas limits Replication.Replicas, so that a mistake is found.
const mostReplicas = 100

// Check returns the declaration with its defaults, or an error that says what is wrong.
func (r Replication) Check() (Replication, error) {
	switch {
	case r.Replicas < 0 || r.Replicas > mostReplicas:
		return r, fmt.Errorf("the number of replicas to wait for is %d; it must be from 0 to %d", r.Replicas, mostReplicas)
	case r.Replicas == 0 && r.Within != 0:
		return r, fmt.Errorf("the time to wait for replicas is %s, but no number of replicas is given", r.Within)
	case r.Within == 0:
		r.Within = DefaultWithin
	case r.Within < time.Millisecond || r.Within > time.Minute:
		return r, fmt.Errorf("the time to wait for replicas is %s; it must be from 1ms to 1m", r.Within)
	}
	return r, nil
}

// Unconfirmed is the error of a grant that too few replicas have confirmed. The server has the grant.
type Unconfirmed struct {
	Replicas int           // the number of replicas that have confirmed
	Want     int           // the number that the node declares
	Within   time.Duration // the time limit
	Err      error         // the server's error if it refused WAIT; nil otherwise
}

// Error says how many replicas have confirmed the grant.
func (u *Unconfirmed) Error() string {
	if u.Err != nil {
		return "the server refused WAIT: " + Reason(u.Err)
	}
	return fmt.Sprintf("%d of %d replicas have confirmed the grant within %s", u.Replicas, u.Want, u.Within)
}
