package cli

import (
	"runtime"
	"time"
)

// measuredJSON is the output of bench --json. The rules in json.go apply. A phase that did not begin is null. Figures
// without samples are null, too.

type measuredJSON struct {
	Host       *string           `json:"host"` // the host on which bench ran
	CPUs       int               `json:"cpus"`
	Started    *string           `json:"started"`
	Prefix     string            `json:"prefix"` // prefix of the locked names
	TTLMS      int64             `json:"ttl_ms"`
	DurationMS int64             `json:"duration_ms"` // the requested time of a phase
	Quorum     int               `json:"quorum"`
	One        *cyclesJSON       `json:"one_at_a_time"`
	Many       *cyclesJSON       `json:"many"`
	HandOff    *handOffJSON      `json:"hand_off"`
	Nodes      []measureNodeJSON `json:"nodes"`
}

type cyclesJSON struct {
	Goroutines int         `json:"goroutines"`
	TookMS     float64     `json:"took_ms"`
	Cycles     int         `json:"cycles"`
	PerSecond  float64     `json:"cycles_per_s"`
	Lock       samplesJSON `json:"lock"`
	Unlock     samplesJSON `json:"unlock"`
}

type handOffJSON struct {
	Waiters   int         `json:"waiters"`
	TookMS    float64     `json:"took_ms"` // time from the first hand-off to the last
	HandOffs  int         `json:"hand_offs"`
	PerSecond float64     `json:"hand_offs_per_s"`
	Time      samplesJSON `json:"time"`
}

type samplesJSON struct {
	N   int      `json:"n"`
	P50 *float64 `json:"p50_ms"`
	P90 *float64 `json:"p90_ms"`
	P99 *float64 `json:"p99_ms"`
	Max *float64 `json:"max_ms"`
}

type measureNodeJSON struct {
	Node     string  `json:"node"`
	Admitted bool    `json:"admitted"` // true: the node votes at the end
	Reason   *string `json:"reason"`   // code of the reason why the node does not vote
	Cause    *string `json:"cause"`    // code of the reason's cause
	Said     *string `json:"said"`     // reason and cause in words
	Version  *string `json:"version"`
	// InMajority is how often the node was among the first quorum that answered, from 0 to 1. Only the locks and
	// unlocks of the phase one_at_a_time count.
	InMajority *float64     `json:"in_majority"`
	Calls      int          `json:"calls"`
	Failed     int          `json:"failed"`
	LastError  *string      `json:"last_error"`
	One        *readingJSON `json:"one_at_a_time"`
	Many       *readingJSON `json:"many"`
	HandOff    *readingJSON `json:"hand_off"`
}

type readingJSON struct {
	Calls       int         `json:"calls"`
	Pipelines   int         `json:"pipelines"`
	PerPipeline *float64    `json:"calls_per_pipeline"`
	Failed      int         `json:"failed"`
	RoundTrip   samplesJSON `json:"round_trip"`
}

func benchJSON(b *bench) measuredJSON {
	j := measuredJSON{
		Host: text(hostName()), CPUs: runtime.GOMAXPROCS(0), Started: instant(b.started), Prefix: b.prefix,
		TTLMS: b.ttl().Milliseconds(), DurationMS: b.flags.duration.value.Milliseconds(), Quorum: b.gauge.quorum,
		One: ofCycles(b.one), Many: ofCycles(b.many),
	}
	if r := b.relay; r != nil {
		n := len(r.handed)
		j.HandOff = &handOffJSON{
			Waiters: r.clients, TookMS: inMS(r.took), HandOffs: n,
			PerSecond: rounded(rate(n, r.took), 1), Time: ofSamples(r.handed),
		}
	}
	for i, f := range b.gauge.figures() {
		s := b.standing[i]
		n := measureNodeJSON{
			Node: s.Node, Admitted: s.Votes(), Version: text(s.Version),
			Calls: f.calls, Failed: f.failed, LastError: text(f.said), One: ofReading(f.phases[phaseOne]),
		}
		n.Reason, n.Cause, n.Said = refusalJSON(s)
		if f.known {
			share := rounded(f.inMajority, 4)
			n.InMajority = &share
		}
		if b.many != nil {
			n.Many = ofReading(f.phases[phaseMany])
		}
		if b.relay != nil {
			n.HandOff = ofReading(f.phases[phaseHandOff])
		}
		j.Nodes = append(j.Nodes, n)
	}
	return j
}

func ofCycles(c *cycles) *cyclesJSON {
	if c == nil {
		return nil
	}
	n := len(c.unlock)
	return &cyclesJSON{
		Goroutines: c.goroutines, TookMS: inMS(c.took), Cycles: n, PerSecond: rounded(rate(n, c.took), 1),
		Lock: ofSamples(c.lock), Unlock: ofSamples(c.unlock),
	}
}

func ofSamples(samples []time.Duration) samplesJSON {
	s := summarize(samples)
	if s.n == 0 {
		return samplesJSON{}
	}
	ms := func(d time.Duration) *float64 { v := inMS(d); return &v }
	return samplesJSON{N: s.n, P50: ms(s.p50), P90: ms(s.p90), P99: ms(s.p99), Max: ms(s.max)}
}

func ofReading(r reading) *readingJSON {
	j := &readingJSON{Calls: r.calls, Pipelines: r.pipelines, Failed: r.failed, RoundTrip: ofSamples(r.trips)}
	if r.pipelines > 0 {
		per := rounded(float64(r.calls)/float64(r.pipelines), 2)
		j.PerPipeline = &per
	}
	return j
}

func inMS(d time.Duration) float64 { return rounded(float64(d)/float64(time.Millisecond), 3) }
