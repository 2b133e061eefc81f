package cli

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// summary is the summary of samples. Each percentile is itself a sample (nearest rank), never a value between two
// samples. With 30 samples the 99th percentile is the largest.
type summary struct {
	n                  int
	p50, p90, p99, max time.Duration
}

// summarize returns the summary. It sorts the samples in place.
func summarize(samples []time.Duration) summary {
	slices.Sort(samples)
	return summary{
		n: len(samples), p50: percentile(samples, 50), p90: percentile(samples, 90),
		p99: percentile(samples, 99), max: percentile(samples, 100),
	}
}

// percentile returns the smallest sample that is at least as large as p per cent of the samples. It returns 0 without
// samples.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// rate returns n events per second of took, or 0 if nothing was measured.
func rate(n int, took time.Duration) float64 {
	if n == 0 || took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// figure returns a measured duration with about three digits.
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

// rounded removes the digits that were not measured, for JSON.
func rounded(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
