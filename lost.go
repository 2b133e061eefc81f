package holdfast

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/renewal"
)

// LostError says how a lock was lost, as far as the nodes told. It matches [ErrLost].
type LostError struct {
	Name string

	// Owner is who has the lock now, as most nodes named: "label~client~random" for a client of
	// Holdfast, any value where Foreign. Empty where no node named anybody.
	Owner   string
	Foreign bool

	// Gone is true where a majority of the nodes said that they did not have the lease any more: somebody
	// took or deleted it, or they lost their memory. Else its deadline passed without a majority that renewed it.
	Gone bool

	client  *Client
	answers []nodescript.Answer
}

// Nodes returns what each node last said since the lease was renewed, in the order of [Config.Nodes].
func (e *LostError) Nodes() []NodeAnswer {
	if e.client == nil {
		return nil
	}
	return e.client.answers(e.answers, nil)
}

func (e *LostError) Error() string {
	why := "its deadline passed before a majority of the nodes renewed it"
	switch {
	case e.Foreign:
		why = "taken by " + (&HeldError{Foreign: true, Owner: e.Owner}).Holder()
	case e.Owner != "":
		why = "taken by " + (&HeldError{Owner: e.Owner}).Holder()
	case e.Gone:
		why = "a majority of the nodes did not have it any more: it was deleted, or they lost their memory"
	}
	nodes := e.Nodes()
	var b strings.Builder
	fmt.Fprintf(&b, "lock %q lost: %s", e.Name, why)
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

// Unwrap makes the error match ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// lost makes the public error of a loss, and has it logged: the only line about it. The lease's context ends after this
// returns, so nothing is put into words here, and the Logger is not asked anything: thousands of leases may be lost together.
func (c *Client) lost(l *renewal.Lease, why *renewal.LostError) error {
	e := &LostError{Name: strings.TrimPrefix(l.Name(), c.config.Prefix), Gone: why.Gone, client: c, answers: why.Answers}
	if why.Gone {
		e.Owner, e.Foreign = taker(why.Answers)
	}
	owner, token := l.Owner(), l.Token()
	c.log.Do(func() {
		c.config.Logger.Warn("lock lost", "name", e.Name, "owner", owner, "token", token, "why", e.Error())
	})
	return e
}

// taker is the owner that most nodes name that do not have the lease any more.
func taker(answers []nodescript.Answer) (owner string, foreign bool) {
	said := map[nodescript.Answer]int{}
	most := 0
	for _, a := range answers {
		who := nodescript.Answer{Owner: a.Owner, Foreign: a.Foreign}
		if a.Verdict != nodescript.Lost || who == (nodescript.Answer{}) {
			continue
		}
		if said[who]++; said[who] > most {
			most, owner, foreign = said[who], a.Owner, a.Foreign
		}
	}
	return owner, foreign
}
