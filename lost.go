package holdfast

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/verdict"
)

// LostError says how a lock was lost, by the answers of the nodes. It matches [ErrLost].
type LostError struct {
	Name  string // the name of the lock, without [Config.Prefix]
	Slots int    // number of slots of a semaphore, as in a [HeldError]; 0 for a lock

	// Owner is the present owner of the lock: the one that most nodes named. It is "label~client~ticket-random" for a
	// client of Holdfast, and the value of the plain key if Foreign is true. It is empty if no node named an owner.
	Owner   string
	Foreign bool

	// Gone is true if a majority of the nodes answered that they do not have the lease any more: somebody took or
	// deleted it, the nodes lost their memory, or their addresses lead to other servers now. If it is
	// false, no majority renewed the lease before its deadline, or MaxHold or Early says why it ended sooner.
	Gone bool

	// Forced is true if an operator ended the lease: see [admin.Unlock]. Gone is then true too.
	Forced bool

	// MaxHold is the limit of the lease if that ended it: see [WithMaxHold]. Otherwise it is 0. The error then also
	// matches [ErrHoldLimit].
	MaxHold time.Duration

	// Delay is greater than 0 if this process was too busy: its goroutines waited up to Delay for a processor, or its
	// requests left so late. The lease may then have ended earlier than its deadline, by Early. Otherwise the work
	// would have learned of the loss too late.
	Early, Delay time.Duration

	// Stopped is greater than 0 if this process did not run at all for that time, so that it could not renew the lease:
	// it was stopped (SIGSTOP), or its host was suspended.
	Stopped time.Duration

	client  *Client
	record  string // key of the lock's record on the nodes
	answers []nodescript.Answer
}

// Nodes returns the last answer of each node after the last successful renewal, in the order of [Config.Nodes].
func (e *LostError) Nodes() []verdict.Answer {
	if e.client == nil {
		return nil
	}
	return e.client.set(e.client.config.Prefix+e.Name).said.All(func(nodescript.Answer) string { return e.record }, e.answers, nil)
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s %q lost: %s", nounFor(e.Slots), e.Name, e.why())
}

// why returns the error's text without the lock's name.
func (e *LostError) why() string {
	why := "its deadline passed before a majority of the nodes renewed it"
	if e.Early > 0 {
		why = fmt.Sprintf("no majority of the nodes renewed it until %s before its deadline, and goroutines of this busy process run up to %s late", printable.Duration(e.Early), printable.Duration(e.Delay))
	} else if e.Delay > 0 {
		why += fmt.Sprintf(": this process was too busy, and its requests left or were answered up to %s late", printable.Duration(e.Delay))
	}
	switch {
	case e.Stopped > 0:
		return fmt.Sprintf("this process did not run for %s, so it could not renew it: it was stopped, or its host was suspended", printable.Duration(e.Stopped))
	case e.MaxHold > 0:
		why = fmt.Sprintf("it was held for %s, which is as long as is allowed", e.MaxHold)
	case e.Forced:
		why = "an operator took it away"
		if e.Owner != "" {
			why += "; it is now held by " + verdict.Holder{Owner: e.Owner, Foreign: e.Foreign}.String()
		}
	case e.Foreign:
		why = "taken by " + verdict.Holder{Foreign: true, Owner: e.Owner}.String()
	case e.Owner != "":
		why = "taken by " + verdict.Holder{Owner: e.Owner}.String()
	case e.Gone && e.moved() > 0:
		why = fmt.Sprintf("a majority of the nodes did not have it any more: the addresses of %d of %d nodes lead to other servers now", e.moved(), len(e.answers))
	case e.Gone:
		why = "a majority of the nodes did not have it any more: it was deleted, or they lost their memory"
	}
	nodes := e.Nodes()
	var b strings.Builder
	b.WriteString(why)
	for i, n := range nodes {
		sep := "; "
		if i == 0 {
			sep = " ("
		}
		b.WriteString(sep + n.String())
	}
	if len(nodes) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

// moved returns the number of the nodes whose addresses lead to other servers now.
func (e *LostError) moved() (n int) {
	for _, a := range e.answers {
		if a.Verdict == nodescript.Lost && a.Cause == nodescript.Elsewhere {
			n++
		}
	}
	return n
}

// Unwrap makes the error match ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// Is makes the error match ErrHoldLimit if the limit of the lease ended it.
func (e *LostError) Is(target error) bool { return target == ErrHoldLimit && e.MaxHold > 0 }

// lost makes the public error of a loss. The lease's context ends only after lost has returned, and thousands of
// leases may be lost at the same time. So lost formats no text: that would delay the end of the contexts.
func (c *Client) lost(l *renewal.Lease, why *renewal.LostError) error {
	e := &LostError{Name: c.unprefixed(l.Name()), Gone: why.Gone, MaxHold: why.MaxHold, Early: why.Early, Delay: why.Delay, Stopped: why.Stopped, client: c, record: recordOf(l), answers: why.Answers}
	if s, ok := l.Kind().(*nodescript.Slot); ok {
		e.Slots = s.Slots().K()
	}
	if why.Gone {
		e.Owner, e.Foreign = taker(why.Answers)
		e.Forced = slices.ContainsFunc(why.Answers, func(a nodescript.Answer) bool {
			return a.Verdict == nodescript.Lost && a.Cause == nodescript.Forced
		})
	}
	return e
}

// taker returns the owner that most nodes name, among the nodes that no longer have the lease.
func taker(answers []nodescript.Answer) (owner string, foreign bool) {
	type who struct {
		owner   string
		foreign bool
	}
	said := map[who]int{}
	most := 0
	for _, a := range answers {
		w := who{a.Owner, a.Foreign}
		if a.Verdict != nodescript.Lost || w == (who{}) {
			continue
		}
		if said[w]++; said[w] > most {
			most, owner, foreign = said[w], a.Owner, a.Foreign
		}
	}
	return owner, foreign
}
