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

type tired struct{ why error }

func (*tired) Error() string { return "tired" }

// Changed leaves the error that it got as it is.
func TestAChangedErrorIsACopy(t *testing.T) {
	last, cause := &tired{}, errors.New("closed")
	set := func(e *tired) { e.why = cause }
	var got *tired
	if err := Changed(errors.Join(errors.New("first"), last), set); !errors.As(err, &got) || got.why != cause || last.why != nil {
		t.Errorf("%v, %v; the first error has %v", err, got, last.why)
	}
	if err := Changed(errors.New("other"), set); err != nil {
		t.Errorf("an error of another type: %v", err)
	}
	if err := Changed(nil, set); err != nil {
		t.Errorf("no error: %v", err)
	}
}
