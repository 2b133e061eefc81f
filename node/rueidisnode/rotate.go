package rueidisnode

import (
	"errors"
	"time"
)

// This file reads passwords again while a node is in use.

// Rotating makes the node take its user and passwords, also those of Sentinels, from the URL that the function url
// returns. The node calls url before each new connection, one call at a time, so that a password can be changed while
// the program runs. If url returns an error or a URL with another address than the one of [New], or takes longer than a
// second, the node uses the last good one. Connections that exist are kept: Redis does not end them when a password
// changes.
func Rotating(url func() (string, error)) Option {
	return func(n *Node) error {
		if url == nil {
			return errors.New("the function of Rotating is nil")
		}
		n.rotating = url
		return nil
	}
}

// mostLogin is the time that a new connection gives the function of [Rotating].
const mostLogin = time.Second

// login returns the target with the present user and passwords. If the function of Rotating takes too long, login
// returns the last good one. The function runs once at a time.
func (n *Node) login() target {
	if n.rotating == nil {
		return n.target
	}
	n.logins.Lock()
	if n.asked == nil {
		done := make(chan struct{})
		n.asked = done
		go func() { // not bound to Close: nobody can end the function
			text, err := n.rotating()
			n.logins.Lock()
			defer n.logins.Unlock()
			n.asked = nil
			close(done)
			if err != nil {
				return
			}
			if t, err := parse(text); err == nil && t.place() == n.target.place() {
				n.latest = t
			}
		}()
	}
	asked := n.asked
	n.logins.Unlock()
	timer := time.NewTimer(mostLogin)
	defer timer.Stop()
	select {
	case <-asked:
	case <-timer.C:
	case <-n.ctx.Done():
	}
	n.logins.Lock()
	defer n.logins.Unlock()
	return n.latest
}

// place returns the parts of a target that are no secrets.
func (t target) place() target {
	return target{network: t.network, addr: t.addr, tls: t.tls, db: t.db, sentinels: t.sentinels, master: t.master}
}
