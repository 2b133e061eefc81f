package verdict

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Holder is an owner that has a lock, or a waiter for which the lock is reserved (a claim).
type Holder struct {
	// Owner is "label~client~ticket-random" for a client of Holdfast. The owner of a reader ends in "~r". With Left,
	// "~left" follows the random part. If Foreign is true, Owner is the value of the plain key, which can be any text.
	// It is "" if that value is empty or not a string.
	Owner string

	// Shared is true if the holder is a reader. Other readers may then have the lock too.
	Shared bool

	// Foreign is true if the holder is not a client of Holdfast: another Redlock library or a person has set the
	// plain key, which is the key with the lock's own name.
	Foreign bool

	// Left is true if the holder has ended its lease but keeps the name taken: by [holdfast.Lease.UnlockAt], or in a
	// gap of [holdfast.Config.PollGap]. Nobody renews the lock then.
	Left bool

	// Own is true if the holder is this client itself. A caller that waits for such a holder, without the context of
	// its lease, waits for its own process. Only a [holdfast.HeldError] has this information.
	Own bool

	// Offered is true if the holder has only a claim: a release gave the name to it as the first waiter, and it has not
	// taken the lock yet. A claim lasts for 1 s, or for 2.5 × Window if that is longer. Only a [holdfast.Status] has
	// this information.
	Offered bool

	// These fields are only in a [holdfast.Status].
	Slot  int       // the holder's slot of a semaphore
	Fence int64     // the fencing token; 0 if Foreign or Offered
	Since time.Time // time of the acquisition, by the nodes' clocks; zero if Foreign or Offered
	Until time.Time // end of the lock if nobody renews it; zero if the lock never ends
}

// String returns the holder for people: the label of a client of Holdfast, such as "web-3/4711", or a quoted foreign
// value. The zero Holder means several clients that compete for the lock.
func (h Holder) String() string {
	switch {
	case h.Foreign && h.Owner == "":
		return noText
	case h.Foreign:
		return fmt.Sprintf("a foreign key (%q)", h.Owner)
	case h.Owner == "":
		return "several that try at once"
	}
	return nodescript.Label(h.Owner)
}

// noText is the text for a foreign holder whose plain key is empty or is not a string, such as the hash of Redisson.
const noText = "a foreign key without a text value"

// HolderOf makes a Holder from an owner. foreign is true if the owner is not a client of Holdfast.
func HolderOf(owner string, foreign bool) Holder {
	return Holder{
		Owner: owner, Foreign: foreign, Shared: !foreign && nodescript.IsReader(owner), Left: !foreign && nodescript.HasLeft(owner),
	}
}
