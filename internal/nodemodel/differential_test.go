package nodemodel

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

var (
	operations = flag.Int("operations", 0, "how many operations TestServerDoesWhatTheModelSays runs; 0: 12,000, and 4,000 with -short")
	seed       = flag.Uint64("seed", 0, "its first seed; 0 = a new one each time")
)

// runs returns the number of operations of TestServerDoesWhatTheModelSays.
func runs() int {
	switch {
	case *operations != 0:
		return *operations
	case testing.Short():
		return 4000
	}
	return 12_000
}

// round is the number of operations that begin with one empty server.
const round = 250

// TestServerDoesWhatTheModelSays runs random operations against redis-server and the model. It compares every reply and
// every key after each operation. By hand:
//
//	go test ./internal/nodemodel -run Model -operations 1000000 -timeout 1h
func TestServerDoesWhatTheModelSays(t *testing.T) {
	explore(t, newWorld(t), runs(), inLongRuns(answers)...)
}

// TestDurableServerDoesWhatTheModelSays does the same with a server that keeps its data over restarts.
func TestDurableServerDoesWhatTheModelSays(t *testing.T) {
	w := newWorld(t, redistest.Durable())
	w.data = true
	explore(t, w, runs()/5)
}

// TestServerDoesWhatTheModelSaysOfValues does the same, and every second operation is a load or a store.
func TestServerDoesWhatTheModelSaysOfValues(t *testing.T) {
	w := newWorld(t)
	w.values = true
	explore(t, w, runs()/3, "load Vw", "load V-", "load L", "load O", "load C", "store D", "store S", "store L", "store O", "store C")
}

// answers are the answers that a run of random operations must contain. Without them the run shows too little.
var answers = []string{
	"acquire G0", "acquire G1", "acquire S", "acquire P", "acquire Hl", "acquire Hc", "acquire Hf", "acquire O", "acquire N", "acquire C",
	"acquire (NOSCRIPT)", "acquire (OOM)", "acquire (WRONGTYPE)",
	"extend E", "extend R", "extend E late", "extend R late", "extend Ll", "extend Lg", "extend Lf", "extend O", "extend N", "extend C",
	"acquire-shared G0", "acquire-shared G1", "acquire-shared S", "acquire-shared P", "acquire-shared Hl", "acquire-shared Hc",
	"acquire-shared Hf", "acquire-shared O", "acquire-shared N", "acquire-shared C", "acquire-shared joins",
	"acquire-shared hands on", "acquire-shared passes",
	"extend-shared E", "extend-shared R", "extend-shared E late", "extend-shared R late", "extend-shared Ll", "extend-shared Lg", "extend-shared Lf", "extend-shared O",
	"extend-shared N", "extend-shared C",
	"release-shared D", "release-shared F", "release-shared C", "release-shared hands on", "leave-shared D", "leave-shared L",
	"acquire joins", "acquire hands on", "acquire passes", "release hands on", "quit D", "quit (WRONGTYPE)",
	"release D", "release F", "release C", "leave D", "leave L", "refresh R", "refresh O", "refresh N",
	"admit R", "admit O", "admit M", "admit U", "admit Q new", "admit Q guard",
	"admit Q vouched", "admit C", "trust R", "trust V",
	"release Fl", "release Ff", "release Fx", "release-shared Fl", "release-shared Ff", "release-shared Fx",
	"leave Ll", "leave Lf", "leave Lx", "leave-shared Ll", "leave-shared Lf", "leave-shared Lx",
	"force of release D", "force of release F", "force of release-shared D", "force of release-shared F", "force hands on",
	"extend Lx", "extend-shared Lx",
	"peers P", "peers O", "peers M", "peers strangers",
}

// inLongRuns returns the answers, or none of them if a flag demands so few operations that some cannot come.
func inLongRuns(answers []string) []string {
	if runs() < 8000 {
		return nil
	}
	return answers
}

// explore runs at least the number of operations, and goes on until every wanted answer has come, because some answers
// are rare. If it runs 20 times as many, it fails.
func explore(t *testing.T, w *world, operations int, wanted ...string) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	began, done := time.Now(), 0
	for s := first; done < operations || len(w.missing(wanted)) > 0 && done < 20*operations; s++ {
		ops, how := play(w, s, round)
		done += len(ops)
		if how == "" {
			continue
		}
		ops = shrink(w, ops)
		var history strings.Builder
		for _, o := range ops {
			fmt.Fprintf(&history, "  %s\n", o.say)
		}
		t.Fatalf("-seed %d differs after %d operations: %s\nsmallest history:\n%s", s, done, how, history.String())
	}
	if missing := w.missing(wanted); len(missing) > 0 {
		t.Errorf("never answered in %d operations: %q", done, missing)
	}
	t.Logf("answers: %v", w.seen)
	t.Logf("%d operations in %v, first seed %d", done, time.Since(began).Round(time.Millisecond), first)
}

// missing returns those of the wanted answers that have not come yet.
func (w *world) missing(wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(a string) bool { return w.seen[a] > 0 })
}

// play draws at most n operations from a seed, until server and model differ.
func play(w *world, seed uint64, n int) (ops []operation, how string) {
	w.reset()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), w: w}
	if g.IntN(4) == 0 || w.data && g.IntN(2) == 0 {
		g.home = 1
	}
	for len(ops) < n && how == "" {
		o := g.next()
		ops = append(ops, o)
		how = w.step(o)
	}
	return ops, how
}

// step runs one operation on both sides. It returns how they differ or which rule broke.
func (w *world) step(o operation) string {
	var was sight
	named := o.call != nil && len(o.call.Keys) > 0
	if named {
		was = w.model.sight(o.call.Keys)
	}
	real, model := o.do(w)
	var heard, wanted []string
	for _, m := range w.heard {
		_, news, _ := strings.Cut(m, " ")
		if h, _ := nodescript.ParseHandoff(news); h.Wanted {
			wanted = append(wanted, news)
		} else {
			heard = append(heard, news[16:])
		}
	}
	if how := w.differ(real, model); how != "" || !named {
		return how
	}
	if how := broken(w, *o.call, was, model, heard, wanted); how != "" {
		return "a rule is broken: " + how
	}
	return ""
}

func replay(w *world, ops []operation) (int, string) {
	w.reset()
	for i, o := range ops {
		if how := w.step(o); how != "" {
			return i, how
		}
	}
	return len(ops), ""
}

// shrink removes operations that the difference does not need, in smaller and smaller pieces.
func shrink(w *world, ops []operation) []operation {
	for size := len(ops) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(ops); {
			fewer := slices.Concat(ops[:i], ops[i+size:])
			if at, how := replay(w, fewer); how != "" {
				ops = fewer[:at+1]
			} else {
				i += size
			}
		}
	}
	return ops
}
