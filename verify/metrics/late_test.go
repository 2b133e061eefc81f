package check

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// The rules call a job overdue from the same moment as holdfast jobs, the doctor and the page.
func TestTheRulesHaveTheCommonBoundOfOverdueJobs(t *testing.T) {
	rules, err := os.ReadFile("../../metrics/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const late = "cluster_name:holdfast_job_overdue_seconds:min > "
	bound := fmt.Sprintf(late+"%.0f\n", jobmetrics.MostLate.Seconds())
	all := strings.Count(string(rules), late)
	if n := strings.Count(string(rules), bound); n != all || n < 2 {
		t.Errorf("%d of %d rules have %q", n, all, bound)
	}
}
