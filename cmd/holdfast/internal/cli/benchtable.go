package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// printBench prints the results for people.
func printBench(out io.Writer, b *bench) error {
	n := len(b.standing)
	verb := "make"
	if b.gauge.quorum == 1 {
		verb = "makes"
	}
	fmt.Fprintf(out, "%s (%d %s a majority), TTL %s, phases of %s, measured from %s with %s\n\n",
		printable.Count(n, "node"), b.gauge.quorum, verb, b.ttl(), b.flags.duration.value, or(hostName(), "this machine"), printable.Count(runtime.GOMAXPROCS(0), "CPU"))
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "PHASE\tTIME OF\tSAMPLES\tP50\tP90\tP99\tMAX\tRATE")
	printCycles(w, "one at a time", b.one)
	if b.many != nil {
		printCycles(w, fmt.Sprintf("many: %d at once", b.many.goroutines), b.many)
	}
	if r := b.relay; r != nil {
		printSamples(w, fmt.Sprintf("hand-off: %d clients", r.clients), "hand-off", r.handed, perSecond(len(r.handed), r.took, "hand-offs"))
	}
	w.Flush()

	fmt.Fprintln(out)
	fmt.Fprintln(w, "NODE\tP50\tP99\tIN MAJORITY\tMANY P50\tMANY P99\tPER PIPELINE\tCALLS\tFAILED\tSTATE")
	for i, f := range b.gauge.figures() {
		s := b.standing[i]
		state := "votes"
		if !s.Votes() {
			state = s.Said()
		}
		if f.failed > 0 && f.said != state {
			state += " (last error: " + f.said + ")"
		}
		one, many := summarize(f.phases[phaseOne].trips), summarize(f.phases[phaseMany].trips)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", s.Node, one.cell(one.p50), one.cell(one.p99), share(f),
			many.cell(many.p50), many.cell(many.p99), perPipeline(f.phases[phaseMany]), f.calls, f.failed, state)
	}
	w.Flush()
	_, err := fmt.Fprintf(out, `
Lock and unlock: the time of a call in this process. Hand-off: the time from the call of Unlock in one client to the
return of Lock in the next client of the queue. P50 and P99 of a node: round trips of a pipeline, one at a time and with
many. IN MAJORITY: the share of the locks and unlocks, made one at a time, in which the node was among the first %d of %d
to answer.
`, b.gauge.quorum, n)
	return printed(err)
}

func printCycles(w io.Writer, phase string, c *cycles) {
	printSamples(w, phase, "lock", c.lock, perSecond(len(c.unlock), c.took, "cycles"))
	printSamples(w, "", "unlock", c.unlock, "")
}

func printSamples(w io.Writer, phase, of string, samples []time.Duration, rate string) {
	s := summarize(samples)
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", phase, of, s.n, s.cell(s.p50), s.cell(s.p90), s.cell(s.p99), s.cell(s.max), rate)
}

// nothing is printed in place of a value that was not measured.
const nothing = "-"

func (s summary) cell(d time.Duration) string {
	if s.n == 0 {
		return nothing
	}
	return figure(d)
}

func perSecond(n int, took time.Duration, what string) string {
	if n == 0 {
		return nothing
	}
	r := rate(n, took)
	if r < 10 {
		return fmt.Sprintf("%.1f %s/s", r, what)
	}
	return fmt.Sprintf("%.0f %s/s", r, what)
}

func share(f nodeFigures) string {
	if !f.known {
		return nothing
	}
	return fmt.Sprintf("%.0f%%", 100*f.inMajority)
}

func perPipeline(r reading) string {
	if r.pipelines == 0 {
		return nothing
	}
	return fmt.Sprintf("%.1f", float64(r.calls)/float64(r.pipelines))
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
