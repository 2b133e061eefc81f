package doctor

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/election"
)

// campaign starts a candidate that publishes a value and then calls lead. It ends with the test.
func (w *ward) campaign(name string, lead func(context.Context)) (led <-chan struct{}) {
	w.t.Helper()
	client := w.vote()
	ctx, stop := context.WithCancel(w.t.Context())
	first := make(chan struct{})
	var once sync.Once
	var run sync.WaitGroup
	run.Go(func() {
		_ = election.New(client, name, election.ResignPause(100*time.Millisecond)).Run(ctx, func(ctx context.Context, term election.Term) error {
			if err := term.Publish(ctx, []byte("web-1")); err != nil && ctx.Err() == nil {
				w.t.Error(err)
			}
			once.Do(func() { close(first) })
			lead(ctx)
			return nil
		})
	})
	w.t.Cleanup(func() { stop(); run.Wait() })
	return first
}

// short leads for a moment: long enough to be seen, and short enough for many terms.
func short(ctx context.Context) {
	end := time.NewTimer(300 * time.Millisecond)
	defer end.Stop()
	select {
	case <-end.C:
	case <-ctx.Done():
	}
}

func TestALeaderThatChangesAllTheTimeIsFound(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	<-w.campaign("calm", func(ctx context.Context) { <-ctx.Done() })
	<-w.campaign("captain", short)
	all := w.examine("leaders")
	for _, f := range all {
		switch {
		case strings.HasPrefix(f.State, `"captain": the leader changes all the time: `):
			if f.Severity != Warn || !strings.HasSuffix(f.Fix, "holdfast status captain") {
				t.Errorf("captain: %+v", f)
			}
		case strings.HasPrefix(f.State, `"calm": `):
			if f.Severity != Note || !strings.HasSuffix(f.State, "has led for less than a minute") {
				t.Errorf("calm: %+v", f)
			}
		default:
			t.Errorf("unexpected: %+v", f)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d findings, want 2: %+v", len(all), all)
	}
}

// Candidates that are restarted one after the other change the leader, but not all the time.
func TestARestartOfTheCandidatesIsNoAlarm(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	terms := 0
	<-w.campaign("captain", func(ctx context.Context) {
		if terms++; terms < manyTerms-1 {
			short(ctx)
			return
		}
		<-ctx.Done()
	})
	all := w.examine("leaders")
	if len(all) != 1 || all[0].Severity != Note || !strings.HasPrefix(all[0].State, `"captain": the leader has changed within a minute: `) ||
		!strings.HasPrefix(all[0].Fix, "nothing, if candidates were restarted") {
		t.Errorf("the findings are %+v", all)
	}
}

// Without an election nothing is watched, and an old term is not young.
func TestAnOldTermIsNotWatched(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	if all := w.examine("leaders"); len(all) != 1 || all[0].Severity != OK || all[0].State != "no leader has changed within a minute" {
		t.Errorf("without an election: %+v", all)
	}
	<-w.campaign("calm", func(ctx context.Context) { <-ctx.Done() })
	e := &exam{Config: Config{Client: w.open(), Rate: 1_000_000, OlderThan: time.Hour, Only: []string{"leaders"}}, ahead: 2 * youngTerm}
	e.locks(t.Context())
	if len(e.reigns) != 0 || len(e.findings) != 1 || e.findings[0].Severity != OK {
		t.Errorf("two minutes later: %+v", e.findings)
	}
}
