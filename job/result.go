package job

import (
	"context"
	"sync/atomic"
)

// MostOutput is the length, in bytes, of the longest output of a run that is stored.
const MostOutput = 2048

// Result is what a run says about itself beside its error: see [SetResult].
type Result struct {
	Exit *int // the exit code of its command; nil if it has none

	// Output is the output of its command. At most MostOutput bytes of its end are stored, without a part of a character
	// at the beginning. Bytes that are not UTF-8 become U+FFFD. Control characters remain, so code that prints an output
	// must escape them.
	Output string
}

// resultKey is the key of a context's value that receives the Result of a run.
type resultKey struct{}

// SetResult states the exit code and the output of the run that ctx belongs to: the context of the [Func], or of the
// [Turn]. They are stored with the outcome of the run. The last call before the end of the run counts. SetResult does
// nothing if ctx belongs to no run of a job. It is safe for concurrent use.
func SetResult(ctx context.Context, r Result) {
	if to, ok := ctx.Value(resultKey{}).(*atomic.Pointer[Result]); ok {
		to.Store(&r)
	}
}

// withResult returns a context for a run, and a function that puts the Result of the run into its outcome.
func withResult(ctx context.Context) (context.Context, func(*Outcome)) {
	to := new(atomic.Pointer[Result])
	return context.WithValue(ctx, resultKey{}, to), func(o *Outcome) {
		if r := to.Load(); r != nil {
			o.Exit, o.Output = r.Exit, tail(r.Output, MostOutput)
		}
	}
}
