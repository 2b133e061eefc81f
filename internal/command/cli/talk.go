package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/command/childprocess"
	"github.com/holdfast-go/holdfast/internal/core/async"
)

// talker says things on stderr, line by line, as "holdfast: …". It is safe for
// concurrent use.
//
// Nothing waits for whoever reads them: a terminal that was stopped by Ctrl-S, or a full
// pipe, must not keep a command from being ended or a lock from being given back. Lines
// are written aside, in order; see say, tell and finish.
type talker struct {
	out     io.Writer // lines's alone
	lines   async.Queue
	stuck   atomic.Bool // a line was not written in time
	verbose bool
	quiet   bool // no notes, and no warnings of the library's

	mu      sync.Mutex
	waiting bool // keep warnings back
	kept    []warning
}

// courtesy is how long one line is waited for, so that it comes before what the command
// says next.
const courtesy = 50 * time.Millisecond

func newTalker(out io.Writer) *talker {
	t := &talker{out: out}
	t.lines.Missed = func(n int) {
		fmt.Fprintf(t.out, "holdfast: %d messages left out here: nobody read them\n", n)
	}
	return t
}

// warning is one kept back, and which node it is about.
type warning struct {
	node, line string
	over       time.Time // when it is over by itself; zero: not
}

// say writes one message; every line of it gets the prefix. It waits for a moment, but
// not again before what was stuck then is written.
func (t *talker) say(format string, args ...any) {
	flows := !t.stuck.Load() || t.lines.Wait(0)
	t.tell(format, args...)
	if flows {
		t.stuck.Store(!t.lines.Wait(courtesy))
	}
}

// tell is say for who has a process to signal: it does not wait at all.
func (t *talker) tell(format string, args ...any) { t.write(fmt.Sprintf(format, args...)) }

func (t *talker) write(text string) {
	var lines strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		lines.WriteString("holdfast: " + shown(strings.TrimRight(line, "\n")) + "\n")
	}
	t.print(lines.String())
}

// shown is a line with what does more to a terminal than show itself escaped, wherever it came from.
func shown(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError) {
			return '·'
		}
		return r
	}, line)
}

func (t *talker) print(text string) {
	t.lines.Do(func() { _, _ = io.WriteString(t.out, text) })
}

// ask writes a question, when all else is written.
func (t *talker) ask(question string) {
	t.print("holdfast: " + question)
	t.lines.Wait(async.Forever)
}

// finish returns when all is written: with nothing left to lose holdfast waits for its
// readers as any program does, and signals end it as they do any program. Who was ended
// by one already, or has one pending, waits for no longer than a second.
func (t *talker) finish(code int, pending <-chan os.Signal) {
	if t.lines.Wait(courtesy) {
		return
	}
	signal.Reset(childprocess.Ending...)
	wait := async.Forever
	select {
	case <-pending:
		wait = time.Second
	default:
		if code > exitSignal && code < exitSignal+32 {
			wait = time.Second
		}
	}
	t.lines.Wait(wait)
}

// note is said unless with --quiet: nothing is wrong.
func (t *talker) note(format string, args ...any) {
	if !t.quiet {
		t.say(format, args...)
	}
}

// detail is said with -v only.
func (t *talker) detail(format string, args ...any) {
	if t.verbose {
		t.say(format, args...)
	}
}

// fail says why holdfast ends.
func (t *talker) fail(f *failure) {
	if f.err == nil {
		return
	}
	var un *holdfast.UnavailableError
	switch {
	case !errors.As(f.err, &un):
		t.say("%s", trimmed(f.err))
	case len(un.Nodes) == 1: // without the library's hint: ours speaks of flags
		t.say("lock %q: no quorum of 1 node: %s%s", un.Name, un.Nodes[0], f.limit())
	default:
		// One line per node: with five of them a single line is unreadable.
		t.say("lock %q: no quorum of %d nodes%s", un.Name, len(un.Nodes), f.limit())
		for _, n := range un.Nodes {
			if n.Reason != holdfast.ReasonDone && n.Reason != holdfast.ReasonGranted {
				t.say("  %s", n)
			}
		}
	}
	if f.hint != "" {
		t.say("hint: %s", f.hint)
	}
}

// hold keeps the library's warnings back while a lock is waited for: they say the same
// as the refusals that are reported then. resume lets them through, and says those that
// still hold: the lock was had in spite of them.
func (t *talker) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = !t.verbose
}

func (t *talker) resume() {
	t.mu.Lock()
	t.waiting = false
	for _, w := range t.kept {
		if w.over.IsZero() || time.Now().Before(w.over) {
			t.write(w.line)
		}
	}
	t.kept = nil
	t.mu.Unlock()
	t.lines.Wait(courtesy) // before the command says anything
}

// logger is what the library gets.
func (t *talker) logger() *slog.Logger {
	if t.verbose {
		return slog.New(slog.NewTextHandler(records{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(&handler{talker: t})
}

// records is a talker as the output of a log.
type records struct{ talker *talker }

func (r records) Write(record []byte) (int, error) {
	r.talker.print(string(record))
	return len(record), nil
}

// handler turns warnings and errors of the library into lines for people.
type handler struct {
	talker *talker
	attrs  []slog.Attr
}

// Enabled lets INFO in because of "node votes again", which ends a warning.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	w := warning{line: r.Message}
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
		case "reason", "cause": // codes, which said has in words
			return true
		case "why": // a sentence, which may have quotes in it
			why = ": " + a.Value.String()
			return true
		}
		w.line += fmt.Sprintf(" %s=%q", a.Key, a.Value)
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	w.line += why
	h.talker.warn(w, r.Level)
	return nil
}

func (t *talker) warn(w warning, level slog.Level) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.node != "" { // what was said of it before is over
		t.kept = slices.DeleteFunc(t.kept, func(k warning) bool { return k.node == w.node })
	}
	switch {
	case level < slog.LevelWarn, t.quiet:
	case t.waiting:
		t.kept = append(t.kept, w)
	default:
		t.write(w.line)
	}
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{talker: h.talker, attrs: slices.Concat(h.attrs, attrs)}
}

func (h *handler) WithGroup(string) slog.Handler { return h }
