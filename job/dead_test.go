package job

import (
	"testing"
	"testing/synctest"
	"time"
)

// A process can tell that the holder before it died: the lock came when the holder's lease had ended, and not before.
func TestADeadHolderIsTold(t *testing.T) {
	const ttl = 10 * time.Second
	for _, c := range []struct {
		what string
		host string
		ends time.Duration // the end of the holder's lease, seen from now
		died bool
	}{
		{"nobody had the lock", "", -time.Second, false},
		{"a holder that released the lock early", "a", 5 * time.Second, false},
		{"a holder whose lease ends now, by a node whose clock is behind", "a", ttl / 10, true},
		{"a holder whose lease ended", "a", -time.Second, true},
		{"a holder whose lease ended long ago", "a", -late - time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := sighting{c.host, time.Now().Add(c.ends)}.died(noon, ttl)
			if (d != nil) != c.died || d != nil && (!d.until.Equal(noon.Add(c.ends)) || !d.alive.Equal(d.until.Add(-ttl))) {
				t.Errorf("%s: %+v", c.what, d)
			}
		})
	}
}
