package holdfast

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Holder has a lock, or a claim to it.
type Holder struct {
	// Owner is "label~client~random" for a client of Holdfast. A reader's has "~r" at its end. With Left it has "~left"
	// after the random part. Owner is any value if Foreign, and "" for a foreign key that is empty or not a string.
	Owner string

	// Shared is true if the holder is a reader: others may have the lock too.
	Shared bool

	// Foreign is true if the holder is not a client of Holdfast. Another Redlock library or a person then set a value
	// under the plain key.
	Foreign bool

	// Left is true if the holder has ended its lease and keeps the name taken: by [Lease.UnlockAt], or in a gap of
	// [Config.PollGap]. The lock is then not renewed.
	Left bool

	// Own is true if the holder is this client. A call that waits for the holder without the context of its lease waits
	// for its own process. Only a [HeldError] has this information.
	Own bool

	// Offered is true if the holder has only a claim. The lock was handed to it, the first in line, and is reserved for
	// it for a second at most. Only [Client.Status] has this information.
	Offered bool

	// These fields are only in a [Status].
	Slot  int       // the holder's slot of a semaphore
	Fence int64     // the fencing token; 0 if Foreign or Offered
	Since time.Time // time of the acquisition, by the nodes' clocks; zero if Foreign or Offered
	Until time.Time // end of the lock unless it is renewed; zero if never
}

// String returns the label of the holder for people, such as "web-3/4711". It quotes an owner without a label of
// Holdfast. The zero Holder means several clients that try at the same time.
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

// noText is the name of a holder whose plain key is empty or has another type, such as Redisson's hash.
const noText = "a foreign key without a text value"

// holderOf returns the holder with this owner.
func holderOf(owner string, foreign bool) Holder {
	return Holder{
		Owner: owner, Foreign: foreign, Shared: !foreign && nodescript.IsReader(owner), Left: !foreign && nodescript.HasLeft(owner),
	}
}

// firstOf returns the first holder, or a zero one.
func firstOf(all []Holder) Holder {
	if len(all) == 0 {
		return Holder{}
	}
	return all[0]
}
