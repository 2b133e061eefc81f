package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast"
)

// stored is an Outcome as it is stored. The field Job distinguishes it from the values of other programs.
type stored struct {
	Job int `json:"holdfast_job"` // version of this format
	Outcome
	Past []json.RawMessage `json:"past,omitempty"` // each is a brief; Outcome.Book.Past is empty
}

const form = 1

// brief is a PastRun as it is stored. Its keys are short, because a value has hundreds of them. Times are in µs.
type brief struct {
	Tick    int64  `json:"t"` // since 1970
	Started int64  `json:"s"` // since Tick
	Took    int64  `json:"d,omitempty"`
	State   State  `json:"r"`
	Host    string `json:"h"`
	Attempt int    `json:"a,omitempty"` // after the first one
	Manual  bool   `json:"m,omitempty"`
	Missed  int    `json:"n,omitempty"`
	Exit    *int   `json:"x,omitempty"`
	Error   string `json:"e,omitempty"`
	Output  string `json:"o,omitempty"`
}

// letters are the short forms of the states of past runs. Other states are stored as they are.
var letters = map[State]State{Done: "d", Failed: "f", Crashed: "c", Interrupted: "i"}

var states = func() map[State]State {
	m := map[State]State{}
	for state, letter := range letters {
		m[letter] = state
	}
	return m
}()

func (r PastRun) brief() brief {
	b := brief{
		Tick: r.Tick.UnixMicro(), Started: r.Started.Sub(r.Tick).Microseconds(), Took: r.Took.Microseconds(), State: r.State,
		Host: r.Host, Attempt: max(0, r.Attempt-1), Manual: r.Manual, Missed: r.Missed, Exit: r.Exit, Error: r.Error, Output: r.Output,
	}
	if letter := letters[r.State]; letter != "" {
		b.State = letter
	}
	return b
}

// run returns the run of b. ok is false if it has an impossible time.
func (b brief) run() (r PastRun, ok bool) {
	r = PastRun{
		Tick: time.UnixMicro(b.Tick).UTC(), Started: time.UnixMicro(b.Tick).Add(time.Duration(b.Started) * time.Microsecond).UTC(),
		Took: time.Duration(b.Took) * time.Microsecond, State: b.State, Host: head(b.Host, mostWord), Attempt: b.Attempt + 1,
		Manual: b.Manual, Missed: b.Missed, Exit: b.Exit, Error: b.Error, Output: b.Output,
	}
	if state := states[b.State]; state != "" {
		r.State = state
	}
	return r, storable(r.Tick) == nil && storable(r.Started) == nil && r.State != Running
}

const (
	mostError  = 1000 // length, in bytes, of the longest error text that is stored
	briefError = 100  // the same for a past run, if the book is full
	mostWord   = 128  // length of the longest host and of the longest other word that is read from a value
	mostRuns   = 16   // number of states in a book that is read
	// mostAlone is the largest size, in bytes, of a value without its history. The rest is for the history.
	mostAlone = holdfast.MostValue * 3 / 4
	leastText = 256 // length to which the output and the error of the last run are cut at most
)

// encode returns the value to store. If it would be larger than [holdfast.MostValue], it leaves out in this order: the
// outputs of past runs, their errors after the first words, and the oldest runs. A quarter of the value is for the
// history. If the rest is too large, the output and the error of the last run are cut, and then the oldest actions of
// the audit are left out. This happens only to texts of which most characters must be escaped. The error is that of a
// time that cannot be stored. Without it, an empty value would replace the book.
func (o Outcome) encode() ([]byte, error) {
	past, audit := o.Book.Past, o.Book.Audit
	o.Book.Past, o.Book.Audit = nil, audit[:min(len(audit), MostAudit)]
	o.Error = head(o.Error, mostError)
	alone := text(stored{Job: form, Outcome: o})
	for len(alone) > mostAlone && max(len(o.Output), len(o.Error)) > leastText {
		if len(o.Output) >= len(o.Error) {
			o.Output = tail(o.Output, len(o.Output)/2)
		} else {
			o.Error = head(o.Error, len(o.Error)/2)
		}
		alone = text(stored{Job: form, Outcome: o})
	}
	for len(alone) > mostAlone && len(o.Book.Audit) > 0 {
		o.Book.Audit = o.Book.Audit[:len(o.Book.Audit)-1]
		alone = text(stored{Job: form, Outcome: o})
	}
	s := stored{form, o, fitting(past, holdfast.MostValue-len(alone)-len(`,"past":[]`))}
	value := text(s)
	if len(value) == 0 {
		_, err := json.Marshal(s)
		return nil, fmt.Errorf("its outcome cannot be stored: %w", err)
	}
	return value, nil
}

// fitting returns the texts of the newest runs that have at most size bytes, with a comma after each.
func fitting(past []PastRun, size int) []json.RawMessage {
	texts := make([]json.RawMessage, len(past))
	for i, r := range past {
		texts[i] = text(r.brief())
		size -= len(texts[i]) + 1
	}
	for _, shorter := range []func(*PastRun){
		func(r *PastRun) { r.Output = "" },
		func(r *PastRun) { r.Output, r.Error = "", head(r.Error, briefError) },
	} {
		for i := len(past) - 1; i >= 0 && size < 0; i-- {
			r := past[i]
			shorter(&r)
			size += len(texts[i])
			texts[i] = text(r.brief())
			size -= len(texts[i])
		}
	}
	for ; size < 0 && len(texts) > 0; texts = texts[:len(texts)-1] {
		size += len(texts[len(texts)-1]) + 1
	}
	return texts
}

// text returns v as JSON, nil if it cannot be encoded. The characters <, > and & remain one byte each.
func text(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // a time after the year 9999
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// head returns the first bytes of s, at most n, without a part of a character at the end.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// tail returns the last bytes of s, at most n, without a part of a character at the beginning. The result is valid
// UTF-8: other bytes become U+FFFD.
func tail(s string, n int) string {
	for {
		if i := len(s) - n; i > 0 {
			for end := min(len(s), i+utf8.UTFMax); i < end && !utf8.RuneStart(s[i]); {
				i++
			}
			s = s[i:]
		}
		if utf8.ValidString(s) && len(s) <= n {
			return s
		}
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
}

// decode reads a stored value. It returns nil if value is nil. A value with a broken book is [ErrNoJob]: a job whose
// book is unknown may be paused.
func decode(value []byte) (*Outcome, error) {
	if value == nil {
		return nil, nil
	}
	var s stored
	o := &s.Outcome
	if err := json.Unmarshal(value, &s); err != nil || s.Job != form || storable(o.Tick.UTC()) != nil || storable(o.Started.UTC()) != nil {
		return nil, strange(value)
	}
	o.Book.Past = nil
	for _, raw := range s.Past[:min(len(s.Past), MostHistory)] {
		var b brief
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, strange(value)
		}
		r, ok := b.run()
		if !ok {
			return nil, strange(value)
		}
		o.Book.Past = append(o.Book.Past, r)
	}
	o.bound()
	return o, nil
}

// strange returns the error for a value that is no outcome. It tells the outcomes of other versions from the values of
// other programs.
func strange(value []byte) error {
	var is struct {
		Job int `json:"holdfast_job"`
	}
	if err := json.Unmarshal(value, &is); err != nil || is.Job == 0 {
		return ErrNoJob
	}
	return unreadable{is.Job}
}

// bound cuts what an operator or another program may have written into a value, so that the outcome can be stored
// again.
func (o *Outcome) bound() {
	o.State, o.Host = State(head(string(o.State), mostWord/8)), head(o.Host, mostWord)
	o.Spec, o.Schedule = head(o.Spec, mostWord), head(o.Schedule, mostSchedule)
	b := &o.Book
	for _, a := range []*Action{b.Paused, b.Asked, b.Retired} {
		a.bound()
	}
	b.Audit = b.Audit[:min(len(b.Audit), MostAudit)]
	for i := range b.Audit {
		b.Audit[i].bound()
	}
	for state, n := range b.Runs {
		if n < 0 || len(state) > mostWord/8 || len(b.Runs) > mostRuns {
			delete(b.Runs, state)
		}
	}
	b.Retried, b.Missed = max(0, b.Retried), max(0, b.Missed)
}

func (a *Action) bound() {
	if a != nil {
		a.What, a.By, a.Note = head(a.What, mostWord/8), head(a.By, mostWord), head(a.Note, MostNote)
	}
}
