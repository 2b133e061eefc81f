package job_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A jitter that reaches the next tick would leave out ticks, so it is refused.
func TestAJitterThatReachesTheNextTickIsRefused(t *testing.T) {
	for jitter, ok := range map[time.Duration]bool{59 * time.Second: true, time.Minute: false, 5 * time.Minute: false} {
		err := job.Spec{Name: "x", Schedule: "every 1m", Grace: 10 * time.Minute, Jitter: jitter}.Check()
		if ok && err != nil || !ok && (!errors.Is(err, job.ErrBadSpec) || !strings.Contains(err.Error(), "between two ticks")) {
			t.Errorf("a jitter of %s: %v", jitter, err)
		}
	}
}
