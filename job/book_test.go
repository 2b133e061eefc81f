package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast"
)

// fullBook returns an outcome with n past runs and MostAudit actions. Each text is made of t.
func fullBook(n int, t string) Outcome {
	three := 3
	act := Action{What: "pause", At: noon, By: strings.Repeat("h", 64), Note: head(strings.Repeat(t, MostNote), MostNote)}
	if checkNote(act.Note) != nil {
		act.Note = strings.Repeat("x", MostNote)
	}
	o := Outcome{
		Tick: noon, State: Failed, Host: act.By, Fence: noon.UnixMicro(), Attempt: 2, Started: noon, Took: time.Second,
		Error: strings.Repeat(t, mostError), Output: tail(strings.Repeat(t, MostOutput), MostOutput), Exit: &three, Retry: noon, Next: noon,
		Schedule: strings.Repeat("s", mostSchedule), Spec: "0123456789ab",
		Book: Book{
			Runs: map[State]int{Done: 1e9, Failed: 1e9, Crashed: 1e9, Interrupted: 1e9}, Retried: 1e9, Missed: 1e9, Done: noon, Failed: noon,
			Took: time.Hour, Paused: &act, Asked: &act, Retired: &act, Resumed: noon,
		},
	}
	for i := range n {
		at := noon.Add(-time.Duration(i) * time.Hour)
		o.Book.Past = append(o.Book.Past, PastRun{
			Tick: at, Started: at.Add(time.Millisecond), Took: time.Minute, State: Done, Host: "web-1/4711", Attempt: 1,
			Error: o.Error, Output: o.Output,
		})
	}
	for range MostAudit {
		o.Book.Audit = append(o.Book.Audit, act)
	}
	return o
}

// encoded returns the value to store.
func encoded(t testing.TB, o Outcome) []byte {
	t.Helper()
	b, err := o.encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A time that JSON cannot have is an error. Without it, the nodes would get an empty value, and the book would be gone.
func TestAnOutcomeThatCannotBeStoredIsAnError(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, o := range []Outcome{{Tick: noon, Next: far}, {Tick: noon, Retry: far}, {Tick: noon, Book: Book{Done: far}}} {
		if value, err := o.encode(); err == nil || len(value) > 0 {
			t.Errorf("the value is %q, %v", value, err)
		}
	}
}

// A value never exceeds its limit. The newest runs remain, whatever the texts of the runs contain.
func TestABookFitsIntoAValue(t *testing.T) {
	for _, text := range []string{"x", "€", "\x00", "\xff", `"`, "<"} {
		for _, n := range []int{0, 1, 50, MostHistory} {
			o := fullBook(n, text)
			b := encoded(t, o)
			if len(b) > holdfast.MostValue {
				t.Errorf("%d runs with %q: %d bytes", n, text, len(b))
			}
			got, err := decode(b)
			if err != nil {
				t.Fatal(err)
			}
			want := min(n, 20)
			if text == "\x00" || text == "\xff" || text == `"` { // each byte takes two to six
				want = min(n, 5)
			}
			if len(got.Book.Past) < want {
				t.Errorf("%d runs with %q: %d remain", n, text, len(got.Book.Past))
			}
			for i, r := range got.Book.Past {
				if !r.Tick.Equal(o.Book.Past[i].Tick) || r.Host != "web-1/4711" || r.State != Done || r.Took != time.Minute {
					t.Errorf("run %d of %d with %q is %+v", i, n, text, r)
				}
			}
			if len(got.Book.Audit) < MostAudit && text != `"` || len(got.Book.Audit) < 10 {
				t.Errorf("%d runs with %q: %d actions remain", n, text, len(got.Book.Audit))
			}
			if got.Output == "" || got.Error == "" || got.Book.Paused == nil || got.Book.Runs[Done] != 1e9 {
				t.Errorf("%d runs with %q: the outcome is %s", n, text, got)
			}
			if again, err := decode(encoded(t, *got)); err != nil || !reflect.DeepEqual(again.Book.Past, got.Book.Past) {
				t.Errorf("a second store changes the history: %v", err)
			}
		}
	}
}

// A full history leaves out the outputs of old runs first, then their errors, and keeps those of the newest.
func TestOldOutputsGoFirst(t *testing.T) {
	o := fullBook(5, "x")
	o.Book.Audit = nil
	got, err := decode(encoded(t, o))
	if err != nil || len(got.Book.Past) != 5 {
		t.Fatalf("%v, %v", got, err)
	}
	for i, r := range got.Book.Past {
		if first, last := i == 0, i == 4; first && r.Output == "" || last && r.Output != "" || first && len(r.Error) != mostError {
			t.Errorf("run %d has %d bytes of output and %d of an error", i, len(r.Output), len(r.Error))
		}
	}
	short := fullBook(MostHistory, "")
	if got, err = decode(encoded(t, short)); err != nil || len(got.Book.Past) < 150 {
		t.Errorf("of %d runs without texts remain %d, %v", MostHistory, len(got.Book.Past), err)
	}
}

// The book counts each attempt once, and it moves to the history when the next one begins.
func TestABookCountsEachAttemptOnce(t *testing.T) {
	ran := func(s State, retry bool) *Outcome {
		o := &Outcome{Tick: noon, Started: noon, Took: time.Second, State: s, Attempt: 1}
		if retry {
			o.Retry = noon
		}
		return o
	}
	for _, c := range []struct {
		last     *Outcome
		repeated bool
		want     string
	}{
		{nil, false, "map[] retried 0 past []"},
		{ran(Running, false), false, "map[crashed:1] retried 0 past [crashed]"},
		{ran(Running, false), true, "map[] retried 1 past [crashed]"},
		{ran(Failed, true), true, "map[] retried 1 past [failed]"},
		{ran(Failed, true), false, "map[failed:1] retried 0 past [failed]"},
		{ran(Interrupted, true), true, "map[] retried 1 past [interrupted]"},
		{ran(Done, false), false, "map[] retried 0 past [done]"}, // its end counted it
		{ran(Failed, false), false, "map[] retried 0 past [failed]"},
		{ran(Reset, false), false, "map[] retried 0 past []"},
		{ran(Removed, false), false, "map[] retried 0 past []"},
	} {
		b := c.last.after(c.repeated, 50, noon)
		var past []State
		for _, r := range b.Past {
			past = append(past, r.State)
		}
		if got := fmt.Sprintf("%v retried %d past %v", b.Runs, b.Retried, past); got != c.want {
			t.Errorf("%v, repeated %t: %s; want %s", c.last, c.repeated, got, c.want)
		}
	}
	if b := ran(Done, false).after(false, 0, noon); len(b.Past) > 0 {
		t.Errorf("a job without a history has %v", b.Past)
	}
}

func TestTheEndOfAnOutputIsValid(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"abc", "abc"}, {"abcdef", "cdef"}, {"a€€", "€"}, {"€ab\x1b", "ab\x1b"}, {"x\xff", "x\uFFFD"}, {"\xff\xff\xff\xff\xff", "\uFFFD"}, {"ab\xffcd", "cd"},
	} {
		if got := tail(c.in, 4); got != c.want {
			t.Errorf("the end of %q is %q; want %q", c.in, got, c.want)
		}
	}
	if got := head("a€", 3); got != "a" {
		t.Errorf("the beginning is %q", got)
	}
}

// Whatever bytes a value has, it is no job, or an outcome that can be stored again.
func FuzzDecode(f *testing.F) {
	for _, o := range []Outcome{{Tick: noon, Started: noon, State: Done}, fullBook(3, "€")} {
		f.Add(encoded(f, o))
	}
	for _, text := range []string{
		`{"holdfast_job":1}`,
		`{"holdfast_job":1,"book":7}`,
		`{"holdfast_job":1,"past":[{"t":9223372036854775807,"s":9223372036854775807}]}`,
		`{"holdfast_job":1,"past":[null,{"r":"running"}]}`,
		`{"holdfast_job":1,"past":[{"a":-5,"d":-9223372036854775808,"r":"q"}],"book":{"runs":{"done":-1,"` + strings.Repeat("x", 5000) + `":1}}}`,
		`{"holdfast_job":1,"tick":"9999-12-31T23:59:59-23:59"}`,
		`{"holdfast_job":1,"tick":"9999-12-31T23:59:59Z","started":"9999-12-31T23:59:59Z","took":9223372036854775807,"state":"running"}`,
		`{"holdfast_job":1,"state":"` + strings.Repeat("s", 9000) + `","host":"` + strings.Repeat("h", 7000) + `"}`,
		`{"holdfast_job":1,"book":{"paused":{"what":"` + strings.Repeat("\\u0001", 9000) + `"},"asked":{},"retired":null,"audit":[` + strings.Repeat("{},", 99) + `{}]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if len(value) > holdfast.MostValue {
			return
		}
		o, err := decode(value)
		if err != nil || o == nil {
			return
		}
		next := Outcome{Tick: noon, Started: noon, State: Done, Book: o.after(false, MostHistory, noon)}
		for _, o := range []Outcome{*o, next} {
			b := encoded(t, o)
			if len(b) > holdfast.MostValue || !json.Valid(b) {
				t.Fatalf("%d bytes: %.200q", len(b), b)
			}
			again, err := decode(b)
			if err != nil || !again.Tick.Equal(o.Tick) || (again.Book.Paused == nil) != (o.Book.Paused == nil) {
				t.Fatalf("%q became %v, %v", b, again, err)
			}
			if !utf8.Valid(b) || bytes.Contains(b, []byte("\n")) {
				t.Fatalf("%q", b)
			}
		}
		_, _, _ = o.History(), o.Overdue(noon), o.String()
	})
}

// A value whose history or book is broken is no job: the job may be paused.
func TestABrokenBookIsNoJob(t *testing.T) {
	for _, book := range []string{`"book":7`, `"book":{"paused":"yes"}`, `"past":7`, `"past":["x"]`, `"past":[{"r":"running"}]`, `"past":[{"t":9223372036854775807}]`} {
		if o, err := decode([]byte(`{"holdfast_job":1,"tick":"2026-05-01T12:00:00Z","started":"2026-05-01T12:00:00Z",` + book + `}`)); err == nil {
			t.Errorf("%s is %v", book, o)
		}
	}
	if o, err := decode([]byte(`{"holdfast_job":1,"tick":"2026-05-01T12:00:00Z","state":"done","started":"2026-05-01T12:00:00Z"}`)); err != nil || len(o.History()) != 1 {
		t.Errorf("a value without a book is %v, %v", o, err)
	}
}

func TestAJobIsOverdueUnlessNobodyExpectsIt(t *testing.T) {
	act := &Action{}
	for _, c := range []struct {
		o    Outcome
		want time.Duration
	}{
		{Outcome{State: Done, Next: noon.Add(-time.Hour)}, time.Hour},
		{Outcome{State: Done, Next: noon.Add(time.Hour)}, 0},
		{Outcome{State: Done}, 0},
		{Outcome{State: Running, Next: noon.Add(-time.Hour)}, 0},
		{Outcome{State: Removed, Next: noon.Add(-time.Hour)}, 0},
		{Outcome{State: Done, Next: noon.Add(-time.Hour), Book: Book{Paused: act}}, 0},
		{Outcome{State: Done, Next: noon.Add(-time.Hour), Book: Book{Retired: act}}, 0},
		{Outcome{State: Done, Next: noon.Add(-time.Hour), Book: Book{Resumed: noon.Add(-time.Minute)}}, time.Minute},
	} {
		if got := c.o.Overdue(noon); got != c.want {
			t.Errorf("%+v is overdue by %s; want %s", c.o, got, c.want)
		}
	}
}
