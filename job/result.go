package job

import "context"

// MostOutput is the length, in bytes, of the longest output of a run that is stored.
const MostOutput = 2048

// resultKey is the key of a context's value that receives the Result of a run.
type resultKey struct{}

// SetResult states the exit code and the output of the run that ctx belongs to. The last call counts. It does nothing if
// ctx belongs to no run of a job. It is not safe for concurrent use with itself.
func SetResult(ctx context.Context, r Result) {
	if to, ok := ctx.Value(resultKey{}).(*Result); ok {
		*to = r
	}
}
