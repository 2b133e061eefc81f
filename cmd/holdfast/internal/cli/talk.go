package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/verdict"
)

// talker prints messages on stderr. Each line begins with "holdfast: ". It is safe for concurrent use.
//
// Writes to stderr may block, for example when a pipe is full, or after Ctrl-S on a terminal. This must not delay the
// end of a command or the release of a lock. So a queue writes the lines in order, on its own goroutine. say and
// finish wait for it for a limited time, and tell does not wait.
type talker struct {
	out     io.Writer // only the queue writes to it
	lines   async.Queue
	stuck   atomic.Bool // a line was not written in time
	verbose bool
	quiet   bool // print no notes, and of the library only grave records

	mu      sync.Mutex
	waiting bool // the run waits for the lock, so warnings are kept for later
	kept    []warning
	novote  map[string]string    // by node that does not vote: the line that was printed about it
	reasons map[string]time.Time // by reason why jobs wait: when it was printed
}

// courtesy is the time for which say waits until its line is written. So the line usually comes before the next output
// of the command.
const courtesy = 50 * time.Millisecond

func newTalker(out io.Writer) *talker {
	t := &talker{out: out}
	t.lines.Missed = func(n int) {
		fmt.Fprintf(t.out, "holdfast: %d messages left out here: nobody read them\n", n)
	}
	return t
}

// warning is a warning of the library that resume prints later if it is still true.
type warning struct {
	node, line string    // the node that the warning is about, and the text
	novote     bool      // the warning says that the node does not vote
	grave      bool      // --quiet does not suppress it
	over       time.Time // when the warning stops being true by itself; zero: never
}

// say writes a message, with the prefix before each of its lines. It waits until the message is written, but at most
// for courtesy. If that was not enough, later calls do not wait until stderr has taken all lines.
func (t *talker) say(format string, args ...any) {
	flows := !t.stuck.Load() || t.lines.Wait(0)
	t.tell(format, args...)
	if flows {
		t.stuck.Store(!t.lines.Wait(courtesy))
	}
}

// tell does the same as say, but never waits. Use it where a signal must be sent without delay.
func (t *talker) tell(format string, args ...any) { t.write(fmt.Sprintf(format, args...)) }

func (t *talker) write(text string) {
	var lines strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		lines.WriteString("holdfast: " + shown(strings.TrimRight(line, "\n")) + "\n")
	}
	t.print(lines.String())
}

// shown replaces control characters and format characters by dots, so that no text can control the terminal.
func shown(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || unicode.Is(unicode.Cf, r)) {
			return '·'
		}
		return r
	}, line)
}

func (t *talker) print(text string) {
	t.lines.Do(func() { _, _ = io.WriteString(t.out, text) })
}

// ask writes a question, and returns when it is written.
func (t *talker) ask(question string) {
	t.print("holdfast: " + question)
	t.lines.Wait(async.Forever)
}

// finish returns when all lines are written. Holdfast holds no lock at this time, so it may wait for the reader of
// stderr, and a signal can end it. If a signal has already ended the run, or has come, finish waits for a second at
// most. came contains such a signal, also if the exit code does not show it: cron exits with 0 after TERM, and the
// command of a run may do so.
func (t *talker) finish(code int, came <-chan os.Signal) {
	if t.lines.Wait(courtesy) {
		return
	}
	signal.Reset(childprocess.Ending...)
	wait := async.Forever
	select {
	case <-came:
		wait = time.Second
	default:
		if code > exitSignal && code < exitSignal+32 {
			wait = time.Second
		}
	}
	t.lines.Wait(wait)
}

// note prints a message about a normal event. --quiet suppresses it.
func (t *talker) note(format string, args ...any) {
	if !t.quiet {
		t.say(format, args...)
	}
}

// detail prints a message only with -v.
func (t *talker) detail(format string, args ...any) {
	if t.verbose {
		t.say(format, args...)
	}
}

// fail prints the error and the hint of a failure.
func (t *talker) fail(f *failure) {
	if f.err == nil {
		return
	}
	var un *holdfast.UnavailableError
	switch {
	case !errors.As(f.err, &un):
		t.say("%s", trimmed(f.err))
	case len(un.Nodes) == 1: // without the library's hint, which names fields; f.hint names flags
		t.say("%s%s: %s%s", about(un), answers.NoQuorum(un.Nodes), un.Nodes[0], f.limit())
	default:
		// Each node has a line of its own, because five answers in one line would be hard to read.
		t.say("%s%s%s", about(un), answers.NoQuorum(un.Nodes), f.limit())
		for _, n := range un.Nodes {
			if n.Reason != verdict.ReasonDone && n.Reason != verdict.ReasonGranted {
				t.say("  %s", n)
			}
		}
	}
	if f.hint != "" {
		t.say("hint: %s", f.hint)
	}
}

// hold holds back the library's warnings until resume. While the run waits for the lock, waiter prints the same facts.
func (t *talker) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = !t.verbose
}

// resume prints the kept warnings that are still true. Later warnings are printed at once.
func (t *talker) resume() {
	t.mu.Lock()
	t.waiting = false
	for _, w := range t.kept {
		if w.over.IsZero() || time.Now().Before(w.over) {
			t.writeWarning(w)
		}
	}
	t.kept = nil
	t.mu.Unlock()
	t.lines.Wait(courtesy) // so that the warnings come before the output of the command
}

// logger returns the Logger for the library.
func (t *talker) logger() *slog.Logger {
	if t.verbose {
		return slog.New(slog.NewTextHandler(records{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(&handler{talker: t})
}

// records writes log records to a talker.
type records struct{ talker *talker }

func (r records) Write(record []byte) (int, error) {
	r.talker.print(string(record))
	return len(record), nil
}

// handler prints warnings and errors of the library as lines for people.
type handler struct {
	talker *talker
	attrs  []slog.Attr
}

// Enabled accepts INFO, too: the record "node votes again" ends an earlier warning. It is printed if that was printed.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	w := warning{line: r.Message, grave: grave(r), novote: strings.HasPrefix(r.Message, "node does not vote")}
	why := ""
	add := func(a slog.Attr) bool {
		switch a.Key {
		case "node":
			w.node = a.Value.String()
		case "votes_in":
			if a.Value.Kind() == slog.KindDuration {
				w.over = r.Time.Add(a.Value.Duration())
			}
			return true
		case "reason", "cause": // these are codes; the attribute said contains them in words
			return true
		case "why": // a sentence, which may contain quotes
			why = ": " + a.Value.String()
			return true
		case "error":
			// The line "lock lost" has the reason of a loss. Other lines about the same loss do not repeat it.
			if err, is := a.Value.Any().(error); is && errors.Is(err, holdfast.ErrLost) {
				if !strings.Contains(r.Message, "lost") {
					w.line += ` error="lock lost"`
				}
				return true
			}
		}
		w.line += fmt.Sprintf(" %s=%q", a.Key, a.Value)
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	w.line += why
	if r.Message == "job failed" {
		w.line = jobLine(r)
	}
	if same := h.talker.sameWait(r); same != "" {
		w.line = same
	}
	h.talker.warn(w, r.Level)
	return nil
}

// jobLine returns the line about a job that failed, in the form of the line about one that succeeded.
func jobLine(r slog.Record) string {
	var o job.Outcome
	name := ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "job":
			name = a.Value.String()
		case "host":
			o.Host = a.Value.String()
		case "tick":
			o.Tick, _ = a.Value.Any().(time.Time)
		case "took":
			o.Took, _ = a.Value.Any().(time.Duration)
		case "attempt":
			o.Attempt = int(a.Value.Int64())
		case "missed":
			o.Missed = int(a.Value.Int64())
		case "error":
			o.Error = a.Value.String()
		}
		return true
	})
	o.State = job.Failed
	return fmt.Sprintf("job %q: %s", name, o)
}

// reasonAgain is the time after which the reason of a job that waits is printed again.
const reasonAgain = time.Minute

// sameWait returns a short line about a job that waits for the nodes, if the reason was printed for another job within
// the last minute. It returns "" for any other record. The nodes often refuse all jobs of cron at once, and the reason
// may be long.
func (t *talker) sameWait(r slog.Record) string {
	if !strings.HasPrefix(r.Message, "job waits for the nodes") {
		return ""
	}
	name, reason := "", ""
	r.Attrs(func(a slog.Attr) bool {
		switch err, is := a.Value.Any().(error); {
		case a.Key == "job":
			name = a.Value.String()
		case is:
			reason = trimmed(err)
			if un := (*holdfast.UnavailableError)(nil); errors.As(err, &un) {
				reason = strings.TrimPrefix(reason, about(un))
			}
		}
		return true
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.reasons, func(_ string, printed time.Time) bool { return r.Time.Sub(printed) >= reasonAgain })
	if _, printed := t.reasons[reason]; printed {
		return fmt.Sprintf("job %q waits, too", name)
	}
	if t.reasons == nil {
		t.reasons = map[string]time.Time{}
	}
	t.reasons[reason] = r.Time
	return ""
}

// grave reports whether a record is an error, or says why a lock was lost or that a job crashed.
func grave(r slog.Record) bool {
	return r.Level >= slog.LevelError || r.Message == "lock lost" || strings.HasPrefix(r.Message, "job crashed: ")
}

func (t *talker) warn(w warning, level slog.Level) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.node != "" { // this record replaces earlier warnings about the node
		t.kept = slices.DeleteFunc(t.kept, func(k warning) bool { return k.node == w.node })
	}
	switch {
	case level < slog.LevelWarn:
		if _, printed := t.novote[w.node]; printed { // the record says that the node votes again
			delete(t.novote, w.node)
			t.write(w.line)
		}
	case t.quiet && !w.grave:
	case t.waiting:
		t.kept = append(t.kept, w)
	default:
		t.writeWarning(w)
	}
}

// writeWarning prints a warning. It prints only once that a node does not vote for the same reason. The caller holds
// t.mu.
func (t *talker) writeWarning(w warning) {
	if w.novote {
		if t.novote[w.node] == w.line {
			return
		}
		if t.novote == nil {
			t.novote = map[string]string{}
		}
		t.novote[w.node] = w.line
	}
	t.write(w.line)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{talker: h.talker, attrs: slices.Concat(h.attrs, attrs)}
}

func (h *handler) WithGroup(string) slog.Handler { return h }

// about returns the lock that an error is about, for the beginning of a message. It returns "" for a call that is about
// no lock, or about many.
func about(un *holdfast.UnavailableError) string {
	if un.Name == "" {
		return ""
	}
	return fmt.Sprintf("lock %q: ", un.Name)
}
