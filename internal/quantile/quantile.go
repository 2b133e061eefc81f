// Package quantile finds percentiles of measured times.
package quantile

import (
	"slices"
	"time"
)

// Samples are measured times in ascending order. A percentile is always one of the samples (nearest rank), and never
// a value between two samples. With 30 samples, the 99th percentile is the largest sample.
type Samples []time.Duration

// Of sorts samples in place, and returns them as Samples.
func Of(samples []time.Duration) Samples {
	slices.Sort(samples)
	return samples
}

// Percentile returns the smallest sample that is at least as large as p per cent of the samples. It returns 0 without
// samples.
func (s Samples) Percentile(p int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[max(0, (len(s)*p+99)/100-1)]
}

// Median returns the 50th percentile.
func (s Samples) Median() time.Duration { return s.Percentile(50) }

// Longest returns the largest sample.
func (s Samples) Longest() time.Duration { return s.Percentile(100) }
