package waiting

import "github.com/holdfast-go/holdfast/internal/core/bid"

// Refusal is the reason why an attempt failed.
type Refusal = bid.Refusal

// Kind is the meaning of a failed attempt.
type Kind = bid.Kind

// These are the kinds.
const (
	Unavailable = bid.Unavailable // too few nodes answered, so nothing is known
	Held        = bid.Held        // another owner has the name
	Contended   = bid.Contended   // no owner has the name: attempts split the votes or overtook each other
)
