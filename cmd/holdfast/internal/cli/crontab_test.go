package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// anyJob allows every job.
func anyJob(job.Spec) error { return nil }

// The example cron file of the repository is valid, and its first job has the settings that the file shows.
func TestTheExampleCronFileIsRight(t *testing.T) {
	jobs, err := readCrontab("../../../../examples/jobs/jobs", anyJob)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range jobs {
		names = append(names, c.spec.Name)
	}
	if got := strings.Join(names, " "); got != "nightly-report standup-mail cleanup sync" {
		t.Errorf("the jobs are %s", got)
	}
	first := jobs[0]
	if first.spec.Schedule != "CRON_TZ=Europe/Berlin 30 2 * * *" || first.spec.Missed != job.MissedOnce || first.timeout != 2*time.Hour ||
		first.command != "/opt/reports/nightly.sh --full" || len(first.env) != 1 {
		t.Errorf("the first job is %+v", first)
	}
}

func FuzzCrontab(f *testing.F) {
	f.Add("CRON_TZ=UTC\n* * * * * a b\n@daily c [missed=all] d\nevery 5m e f\n#\n\nX=1")
	f.Add("every 1s x [ttl=1s")
	f.Add("ON_FAILURE='mail x'\n@hourly a [retries=3 backoff=1m history=50 dir=/ env-file=/x output=none] ./a | b\nON_FAILURE=\n")
	f.Add("every 1s x [user=root retries=-1]\ny [output=]")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseCrontab("f", strings.NewReader(text), anyJob)
		for _, c := range jobs {
			if err == nil && (c.command == "" || c.spec.Check() != nil) {
				t.Errorf("%+v was accepted: %v", c, c.spec.Check())
			}
		}
	})
}

// A time zone is checked where it is set. Otherwise a job that begins with CRON_TZ=, as in package job, is taken for a
// setting and never runs.
func TestATimeZoneOfAFileIsChecked(t *testing.T) {
	for _, file := range []string{
		"CRON_TZ=Europe/Berlin 30 2 * * * nightly ./nightly.sh\n",
		"every 1h x true\nCRON_TZ=Europe/Berln\n",
		"TZ=Europe/Berlin 30 2 * * * nightly ./nightly.sh\n",
	} {
		if jobs, err := parseCrontab("f", strings.NewReader(file), anyJob); err == nil {
			t.Errorf("%q is accepted, with %d jobs", file, len(jobs))
		}
	}
}

// --check finds bytes and variables that no command can have, and names a line that is too long.
func TestACheckFindsCommandsThatCannotStart(t *testing.T) {
	for file, want := range map[string]string{
		"every 1h x echo a\x00b\n":                                   "f:1: ",
		"every 1h x\x00y true\n":                                     "f:1: ",
		"A=\x00\nevery 1h x true\n":                                  "f:1: ",
		"every 1h x true\nevery 1h y " + strings.Repeat("x", 70_000): "f:2: ",
		"HOLDFAST_FENCE=1\nevery 1h x true\n":                        "f:1: ",
	} {
		if _, err := parseCrontab("f", strings.NewReader(file), anyJob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", file, err)
		}
	}
}

// A reload finds every change of a variable.
func TestAChangedVariableIsFound(t *testing.T) {
	parse := func(file string) cronJob {
		jobs, err := parseCrontab("f", strings.NewReader(file), anyJob)
		if err != nil {
			t.Fatal(err)
		}
		return jobs[0]
	}
	a, b := parse("A=1 B=2\nevery 1h x true\n"), parse("A=1\nB=2\nevery 1h x true\n")
	if a.same(b) {
		t.Errorf("%q and %q are said to be the same", a.env, b.env)
	}
}

// Words are separated by blanks and tabs, as in every crontab.
func TestTabsSeparateWords(t *testing.T) {
	for _, line := range []string{"every\t15m\tx\ttrue", "@every\t15m\tx\ttrue", "@daily\tx\ttrue", "0\t1\t*\t*\t*\tx\ttrue", "@every 15m\tx\t[missed=once\ttimeout=1s]\ttrue"} {
		jobs, err := parseCrontab("f", strings.NewReader(line+"\n"), anyJob)
		if err != nil || len(jobs) != 1 || jobs[0].spec.Name != "x" || jobs[0].command != "true" {
			t.Errorf("%q: %+v, %v", line, jobs, err)
		}
	}
}

// A setting or an option without a value, or an option that occurs twice, is a mistake of the writer.
func TestEmptyAndRepeatedOptionsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"SHELL=\nevery 5m a true":                  "SHELL is empty",
		"every 5m a [missed=] true":                "option missed has no value",
		"every 5m a [on-crash] true":               "option on-crash has no value",
		"every 5m a [timeout=1s timeout=9s] true":  "option timeout occurs twice",
		"every 5m a [missed=skip missed=all] true": "option missed occurs twice",
	} {
		if jobs, err := parseCrontab("f", strings.NewReader(text+"\n"), anyJob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d jobs, %v; want %q", text, len(jobs), err, want)
		}
	}
}

// The name of a job comes before its options, and a blank is between them. Otherwise the options would be the name.
func TestOptionsAreNoName(t *testing.T) {
	const order = `write the name of the job, a blank, and then the options`
	for text, want := range map[string]string{
		"30 2 * * * [missed=once] ./report.sh":           `the name of the job is missing before "[missed=once]"; ` + order,
		"every 5m [missed=once timeout=1s] ./report.sh":  `the name of the job is missing before "[missed=once"; ` + order,
		"@daily [ -f /etc/x ] && true":                   `the name of the job is missing before "["; ` + order,
		"every 5m report[missed=once] ./report.sh":       `the options are part of the name "report[missed=once]"; ` + order,
		"every 5m report[missed=once timeout=1s] ./a.sh": `the options are part of the name "report[missed=once"; ` + order,
	} {
		if jobs, err := parseCrontab("f", strings.NewReader(text+"\n"), anyJob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d jobs, %v; want %q", text, len(jobs), err, want)
		}
	}
	if jobs, err := parseCrontab("f", strings.NewReader("every 5m shard[1] true\n"), anyJob); err != nil || jobs[0].spec.Name != "shard[1]" {
		t.Errorf("a name with brackets: %v", err)
	}
}
