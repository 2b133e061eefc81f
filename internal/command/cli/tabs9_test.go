package cli

import (
	"strings"
	"testing"
)

// Words are separated by blanks and tabs, as in every crontab.
func TestTabsSeparateWords(t *testing.T) {
	for _, line := range []string{"every\t15m\tx\ttrue", "@every\t15m\tx\ttrue", "@daily\tx\ttrue", "0\t1\t*\t*\t*\tx\ttrue", "@every 15m\tx\t[missed=once\ttimeout=1s]\ttrue"} {
		jobs, err := parseCrontab("f", strings.NewReader(line))
		if err != nil || len(jobs) != 1 || jobs[0].spec.Name != "x" || jobs[0].command != "true" {
			t.Errorf("%q: %+v, %v", line, jobs, err)
		}
	}
}
