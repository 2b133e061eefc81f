package cli

import (
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/internal/quantile"
)

// summary contains the percentiles of some samples.
type summary struct {
	n                  int
	p50, p90, p99, max time.Duration
}

// summarize returns the summary of samples. It sorts them.
func summarize(samples []time.Duration) summary {
	s := quantile.Of(samples)
	return summary{n: len(s), p50: s.Median(), p90: s.Percentile(90), p99: s.Percentile(99), max: s.Longest()}
}

// rate returns n events per second of took, or 0 if nothing was measured.
func rate(n int, took time.Duration) float64 {
	if n == 0 || took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// figure returns a measured duration as text, with about three digits.
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

// rounded rounds a value for JSON. It removes digits that the measurement cannot know.
func rounded(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
