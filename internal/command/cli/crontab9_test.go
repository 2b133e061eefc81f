package cli

import (
	"strings"
	"testing"
)

// A time zone is checked where it is set. Otherwise a job that begins with CRON_TZ=, as in package job, is taken for a
// setting and never runs.
func TestATimeZoneOfAFileIsChecked(t *testing.T) {
	for _, file := range []string{
		"CRON_TZ=Europe/Berlin 30 2 * * * nightly ./nightly.sh\n",
		"every 1h x true\nCRON_TZ=Europe/Berln\n",
		"TZ=Europe/Berlin 30 2 * * * nightly ./nightly.sh\n",
	} {
		if jobs, err := parseCrontab("f", strings.NewReader(file)); err == nil {
			t.Errorf("%q is accepted, with %d jobs", file, len(jobs))
		}
	}
}
