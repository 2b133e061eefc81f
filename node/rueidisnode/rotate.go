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
func (a *access) login() target {
	if a.rotating == nil {
		return a.target
	}
	a.logins.Lock()
	if a.asked == nil {
		done := make(chan struct{})
		a.asked = done
		go func() { // not bound to Close: nobody can end the function
			text, err := a.rotating()
			a.logins.Lock()
			defer a.logins.Unlock()
			a.asked = nil
			close(done)
			if err != nil {
				return
			}
			if t, err := parse(text); err == nil && t.place() == a.target.place() {
				a.latest = t
			}
		}()
	}
	asked := a.asked
	a.logins.Unlock()
	timer := time.NewTimer(mostLogin)
	defer timer.Stop()
	select {
	case <-asked:
	case <-timer.C:
	case <-a.life.Done():
	}
	a.logins.Lock()
	defer a.logins.Unlock()
	return a.latest
}

// place returns the parts of a target that are no secrets.
func (t target) place() target {
	return target{network: t.network, addr: t.addr, tls: t.tls, db: t.db, sentinels: t.sentinels, master: t.master, cluster: t.cluster}
}
