package ending

import (
	"context"
	"errors"
	"testing"
)

// An error of an ended wait matches the context's Err and the cause that somebody gave, and has the text of the cause.
func TestACauseMatchesTheErrorOfTheContextToo(t *testing.T) {
	mine := errors.New("the shop is closed")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := Cause(ctx); err != nil {
		t.Errorf("before the end the cause is %v", err)
	}
	cancel(mine)
	err := Cause(ctx)
	if !errors.Is(err, mine) || !errors.Is(err, context.Canceled) || err.Error() != mine.Error() {
		t.Errorf("the cause %q is %v", mine, err)
	}
	plain, stop := context.WithCancel(t.Context())
	stop()
	if err := Cause(plain); err != context.Canceled {
		t.Errorf("without a cause the error is %v", err)
	}
}

func TestFactsAndWordsOfAWaitThatDidNotEnd(t *testing.T) {
	fact, cause := errors.New("held"), errors.New("closed")
	if got := Because(nil); got != "" || len(Facts(fact, nil)) != 1 {
		t.Errorf("%q, %v", got, Facts(fact, nil))
	}
	if got := Because(cause); got != " (waiting ended: closed)" || !errors.Is(errors.Join(Facts(fact, cause)...), cause) {
		t.Errorf("%q, %v", got, Facts(fact, cause))
	}
}
