package fence_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

func writer(n int64) fence.Token { return fence.Token{Fence: n} }
func reader(n int64) fence.Token { return fence.Token{Fence: n, Mode: fence.Reader} }

// The rule, one line for each case. In each line the marks are those of the line itself.
func TestTheRule(t *testing.T) {
	t.Parallel()
	none := fence.Token{}
	for _, c := range []struct {
		what  string
		marks fence.Marks
		token fence.Token
		next  fence.Marks
		mark  fence.Token // that refuses the token; none: it is admitted
	}{
		{"the first writer", fence.Marks{}, writer(1), fence.Marks{Writer: 1}, none},
		{"the first reader", fence.Marks{}, reader(1), fence.Marks{Reader: 1}, none},
		{"a writer again", fence.Marks{Writer: 7}, writer(7), fence.Marks{Writer: 7}, none},
		{"a later writer", fence.Marks{Writer: 7}, writer(8), fence.Marks{Writer: 8}, none},
		{"an older writer", fence.Marks{Writer: 7}, writer(6), fence.Marks{Writer: 7}, writer(7)},
		{"a later reader", fence.Marks{Writer: 7}, reader(8), fence.Marks{Writer: 7, Reader: 8}, none},
		{"an older reader", fence.Marks{Writer: 7}, reader(6), fence.Marks{Writer: 7}, writer(7)},
		{"a reader again", fence.Marks{Writer: 7, Reader: 9}, reader(9), fence.Marks{Writer: 7, Reader: 9}, none},
		{"the older of two readers", fence.Marks{Writer: 7, Reader: 9}, reader(8), fence.Marks{Writer: 7, Reader: 9}, none},
		{"a writer after readers", fence.Marks{Writer: 7, Reader: 9}, writer(10), fence.Marks{Writer: 10, Reader: 9}, none},
		{"a writer before readers", fence.Marks{Writer: 7, Reader: 9}, writer(8), fence.Marks{Writer: 7, Reader: 9}, reader(9)},
		{"the writer before readers", fence.Marks{Writer: 7, Reader: 9}, writer(7), fence.Marks{Writer: 7, Reader: 9}, reader(9)},
		{"older than all", fence.Marks{Writer: 7, Reader: 9}, writer(6), fence.Marks{Writer: 7, Reader: 9}, writer(7)},
		{"an old reader after a writer", fence.Marks{Writer: 10, Reader: 9}, reader(9), fence.Marks{Writer: 10, Reader: 9}, writer(10)},
		{"a lease that became a reader", fence.Marks{Writer: 7}, reader(7), fence.Marks{Writer: 7, Reader: 7}, none},
	} {
		t.Run(c.what, func(t *testing.T) {
			next, err := c.marks.Admit("account", c.token)
			if next != c.next {
				t.Errorf("the marks become %+v; want %+v", next, c.next)
			}
			var stale *fence.StaleError
			switch errors.As(err, &stale); {
			case c.mark == none && err != nil:
				t.Errorf("%s is refused: %v", c.token, err)
			case c.mark != none && err == nil:
				t.Errorf("%s is admitted", c.token)
			case c.mark != none && (!errors.Is(err, fence.ErrStale) || *stale != fence.StaleError{Resource: "account", Token: c.token, Mark: c.mark}):
				t.Errorf("%s: %v; want a refusal by %s", c.token, err, c.mark)
			}
		})
	}
}

// No order of accesses lets an earlier holder in. Tokens are given out in real time, and every holder that came shows
// its token. This visits all histories of five leases, and all accesses.
func TestNoHistoryLetsAnOldHolderWrite(t *testing.T) {
	t.Parallel()
	histories := 0
	var visit func(m fence.Marks, seen []fence.Token, depth int)
	visit = func(m fence.Marks, seen []fence.Token, depth int) {
		if depth == 0 {
			histories++
			return
		}
		for n := int64(1); n <= 5; n++ {
			for _, token := range []fence.Token{writer(n), reader(n)} {
				old := false
				for _, s := range seen { // a writer excludes everybody, a reader excludes writers
					old = old || s.Fence > n && (s.Mode == fence.Writer || token.Mode == fence.Writer)
				}
				next, err := m.Admit("x", token)
				if (err != nil) != old {
					t.Fatalf("after %v: %s: %v; is it old: %v", seen, token, err, old)
				}
				if err == nil {
					visit(next, append(seen[:len(seen):len(seen)], token), depth-1)
				} else if next != m {
					t.Fatalf("after %v: the refused %s changed the marks", seen, token)
				}
			}
		}
	}
	visit(fence.Marks{}, nil, 5)
	if histories < 1000 {
		t.Errorf("only %d histories were visited", histories)
	}
}

func TestATokenThatNoLeaseHasIsAnError(t *testing.T) {
	t.Parallel()
	for _, token := range []fence.Token{{}, writer(-1), reader(0), {Fence: 3, Mode: 2}} {
		next, err := fence.Marks{Writer: 1}.Admit("x", token)
		if !errors.Is(err, fence.ErrBadToken) || errors.Is(err, fence.ErrStale) || next != (fence.Marks{Writer: 1}) {
			t.Errorf("%+v: %v, %+v", token, err, next)
		}
	}
}

type lease int64

func (l lease) Fence() int64 { return int64(l) }

func TestWordsOfTokensAndErrors(t *testing.T) {
	t.Parallel()
	_, err := fence.Marks{Writer: 9}.Admit("account/42", fence.Of(lease(7)))
	for got, want := range map[string]string{
		err.Error():               `fence: "account/42": token 7 of a writer is old: token 9 of a writer was here`,
		reader(8).String():        "token 8 of a reader",
		fence.Mode(9).String():    "mode 9",
		fmt.Sprint(fence.MySQL):   "MySQL",
		fence.Dialect{}.String():  "no dialect",
		fence.Postgres.String():   "PostgreSQL",
		fmt.Sprint(fence.SQLite):  "SQLite",
		fence.ErrStale.Error():    "the token is old",
		fmt.Sprint(fence.Writer):  "writer",
		fence.ErrReader.Error():   "a reader cannot write",
		fence.ErrConflict.Error(): "the object has changed",
	} {
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
