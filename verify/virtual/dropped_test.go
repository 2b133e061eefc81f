package virtual

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The garbage collector looks at a dropped lease outside of every bubble of testing/synctest, where its deadline seems
// to have passed. It must touch no timer there: that would end the program.
func TestALeaseDroppedInABubbleEndsNoProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFarSet(t, 2*time.Second)
		c, _ := s.client(s.span(2.2))
		defer c.Close()
		var collected atomic.Bool
		func() {
			l := lock(t, c, "dropped")
			time.Sleep(time.Second) // the client's own reference ends after a while
			runtime.AddCleanup(l, func(*atomic.Bool) { collected.Store(true) }, &collected)
		}()
		for began := runs(); !collected.Load(); {
			runtime.GC()
			if runs()-began > 100 {
				t.Fatal("the dropped lease is no garbage: something still refers to it")
			}
		}
		for range 5 { // the cleanup of the library may run after the one of this test
			runtime.GC()
		}
	})
}

// runs returns the number of garbage collections.
func runs() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}
