package cli

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// summary is what samples come to. Its percentiles are samples themselves (nearest
// rank), never something between two: of 30 samples the 99th percentile is the largest.
type summary struct {
	n                  int
	p50, p90, p99, max time.Duration
}

// summarize sorts the samples.
func summarize(samples []time.Duration) summary {
	slices.Sort(samples)
	return summary{
		n: len(samples), p50: percentile(samples, 50), p90: percentile(samples, 90),
		p99: percentile(samples, 99), max: percentile(samples, 100),
	}
}

// percentile returns the smallest sample that at least p per cent of them do not
// exceed; 0 if there is none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// rate is how many per second; 0 where nothing was measured.
func rate(n int, took time.Duration) float64 {
	if n == 0 || took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// figure prints a measured duration with about three digits.
func figure(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2fms", ms)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1fms", ms)
	case d < time.Second:
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.2fs", d.Seconds())
}

// rounded keeps JSON free of digits that nobody measured.
func rounded(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
