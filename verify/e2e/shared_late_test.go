package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// hears subscribes to the inbox of a client on a node. The channel has its messages.
func (s *set) hears(t *testing.T, i int, client string) <-chan string {
	t.Helper()
	n := s.dial(i)
	ctx, cancel := context.WithCancel(context.Background())
	done, inbox := make(chan struct{}), make(chan string, 100)
	go func() { _ = n.Listen(ctx, nodescript.Inbox(client), func(m string) { inbox <- m }); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	redistest.Eventually(t, 10*time.Second, "the subscription", func() bool {
		v := s.servers[i].MustDo(t, "PUBSUB", "NUMSUB", nodescript.Inbox(client)).([]any)
		return v[1] == int64(1)
	})
	return inbox
}

// A renewal of the exclusive lease may come after the node has made it a shared one. It must not put the ended lease in
// the queue: no other reader would come in any more.
func TestALateRenewalOfADowngradedLeaseKeepsNoReaderOut(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := s.bare(t, 0)
	s.hears(t, 0, "client")
	writer := nodescript.NewOwner("a", "client", 1, []byte("random"))
	reader := nodescript.ReaderOwner(nodescript.NewOwner("a", "client", 2, []byte("random")))
	other := nodescript.ReaderOwner(nodescript.NewOwner("b", "other", 3, []byte("random")))
	T := b.now()
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, writer, T, time.Second), "an acquire of a free name")
	b.says(nodescript.Granted, nodescript.PassCall(bareLock, reader, T+2, time.Second, writer), "a downgrade")
	b.says(nodescript.Lost, nodescript.ExtendCall(bareLock, writer, T, T+1, T+second, time.Second, wideWindow), "a late renewal")
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, other, b.now(), time.Second), "another reader beside the downgraded lease")
}

// A node may have an earlier request of a downgrade, and not the last one. UnlockAt also ends the reader that this
// request made. Otherwise it would stay for its TTL.
func TestUnlockAtEndsAnUnfinishedDowngrade(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := s.bare(t, 0)
	writer := nodescript.NewOwner("a", "client", 1, []byte("random"))
	reader := nodescript.ReaderOwner(nodescript.NewOwner("a", "client", 2, []byte("random")))
	T := b.now()
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, writer, T, time.Second), "an acquire of a free name")
	b.says(nodescript.Granted, nodescript.PassCall(bareLock, reader, T+1, time.Minute, writer), "the first request of a downgrade")
	until := b.now() + second/10
	b.says(nodescript.Lost, nodescript.LeaveCall(bareLock, writer, T, until), "UnlockAt, for the writer")
	b.says(nodescript.Done, nodescript.LeaveCall(bareLock, reader, T+2, until), "UnlockAt, for the reader of the second request")
	redistest.Eventually(t, 10*time.Second, "a writer after UnlockAt", func() bool {
		return b.call(nodescript.AcquireCall(bareLock, "next", b.now(), time.Second)).Verdict == nodescript.Granted
	})
}
