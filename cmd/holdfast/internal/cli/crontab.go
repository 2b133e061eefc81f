package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
)

// cronJob is one job of a cron file.
type cronJob struct {
	line    int
	command string
	env     []string // the settings above the job, each as NAME=value
	timeout time.Duration
	spec    job.Spec

	user      string // "": the user of cron
	dir       string // "": the folder of cron
	envFile   string // a file of variables; "": none
	noOutput  bool   // the nodes do not store the end of the output
	onFailure string // the command that runs when the job failed, crashed or is overdue; "": none
}

// same reports whether two jobs are equal, except for their line in the file.
func (c cronJob) same(o cronJob) bool {
	c.line, o.line = 0, 0
	return fmt.Sprintf("%+q", c.env) == fmt.Sprintf("%+q", o.env) && fmt.Sprintf("%+v", c) == fmt.Sprintf("%+v", o)
}

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

// mostMistakes is the number of mistakes in a cron file that an error lists.
const mostMistakes = 20

// parseCrontab reads a cron file. If the file has mistakes, the error has one line for each of the first mistakes, with
// the name and line of the file. allowed returns an error for a job that is right, but that the settings do not allow.
func parseCrontab(name string, r io.Reader, allowed func(job.Spec) error) ([]cronJob, error) {
	var jobs []cronJob
	var wrong []error
	var env []string
	zone, onFailure, seen := "", "", map[string]int{}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	n := 1
	for ; lines.Scan(); n++ {
		bad := func(err error) { wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, n, err)) }
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if set := assignment.FindStringSubmatch(line); set != nil {
			value := unquoted(set[2])
			switch err := checkSetting(set[1], value); {
			case err != nil:
				bad(err)
			case set[1] == "CRON_TZ":
				zone = value
			case set[1] == "ON_FAILURE":
				onFailure = hookLine(set[2])
			default:
				env = append(env[:len(env):len(env)], set[1]+"="+value)
			}
			continue
		}
		c, err := parseCronJob(line, zone)
		if err == nil {
			err = allowed(c.spec)
		}
		if err != nil {
			bad(err)
			continue
		}
		if first, twice := seen[c.spec.Name]; twice {
			bad(fmt.Errorf("job %q is already in line %d; give it another name", c.spec.Name, first))
			continue
		}
		seen[c.spec.Name] = n
		c.line, c.env, c.onFailure = n, env, onFailure
		jobs = append(jobs, c)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		wrong = append(wrong, fmt.Errorf("%s:%d: the line is too long; at most %d bytes are allowed", name, n, bufio.MaxScanTokenSize-1))
	} else if len(text) > 0 && text[len(text)-1] != '\n' { // as crontab does: half of a command would run
		wrong = append(wrong, fmt.Errorf("%s:%d: the last line does not end with a newline; is the file complete?", name, n-1))
	}
	if more := len(wrong) - mostMistakes; more > 0 {
		wrong = append(wrong[:mostMistakes], fmt.Errorf("%s: %d more mistakes", name, more))
	}
	return jobs, errors.Join(wrong...)
}

// hookLine returns the command of ON_FAILURE. Quotes around the whole of it are no part of it, unlike those of its first and
// last word.
func hookLine(value string) string {
	inner := unquoted(value)
	if inner == value {
		return value
	}
	escaped := false
	for _, b := range []byte(inner) {
		if b == value[0] && !escaped {
			return value
		}
		escaped = b == '\\' && !escaped
	}
	return inner
}

// shortened returns the beginning of a line, for an error.
func shortened(line string) string {
	const most = 60
	if len(line) <= most {
		return line
	}
	return line[:most] + "…"
}

// checkSetting returns nil if a cron file may contain this setting, otherwise the reason why not.
func checkSetting(name, value string) error {
	switch {
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("%s contains a NUL byte, which no variable can have", name)
	case name == "SHELL" && value == "":
		return errors.New("SHELL is empty; write the path of a shell, or leave the line out")
	case name == "SHELL" && !filepath.IsAbs(value): // as in crontab, no directory of PATH is searched
		return fmt.Errorf("SHELL is %q; write the whole path of a shell, such as /bin/bash", value)
	case name == "CRON_TZ" && value == "":
		return errors.New("CRON_TZ is empty; write a time zone such as Europe/Berlin")
	case strings.HasSuffix(name, "TZ") && strings.ContainsAny(value, " \t"):
		return fmt.Errorf("%s is %q; write a time zone alone in this line, and the job in the next one", name, value)
	case name == "CRON_TZ":
		_, err := job.ParseSchedule("CRON_TZ=" + value + " @daily")
		return errors.Unwrap(err)
	case name == "HOLDFAST_NODES":
		return errors.New("HOLDFAST_NODES is a setting of holdfast cron itself; put it in the environment of cron")
	case name == "ON_OVERDUE", name == "ON_CRASH", name == "ON_SUCCESS":
		return fmt.Errorf("%s is no setting: the only one for outcomes is ON_FAILURE, whose command finds failed, crashed or overdue in HOLDFAST_RESULT", name)
	case ownVariable(name):
		return fmt.Errorf("%s cannot be set: cron sets it for each command", name)
	}
	return nil
}

const cronForm = "the form is: SCHEDULE NAME [OPTIONS] COMMAND"

// parseCronJob reads a line with a job.
func parseCronJob(line, zone string) (c cronJob, err error) {
	words := 5
	switch first := strings.Fields(line)[0]; {
	case first == "every", first == "@every":
		words = 2
	case strings.HasPrefix(line, "@"):
		words = 1
	}
	schedule, rest, ok := cutWords(line, words)
	if !ok {
		return c, fmt.Errorf("the line %q ends before the name of a job: this schedule has %s; %s", shortened(line), printable.Count(words, "word"), cronForm)
	}
	if zone != "" && words != 2 {
		schedule = "CRON_TZ=" + zone + " " + schedule
	}
	// The schedule is checked first. If it has too few fields, the words behind it are neither a name nor a command.
	if _, err := job.ParseSchedule(schedule); err != nil {
		return c, err
	}
	name, rest, _ := cutWords(rest, 1)
	if err := checkOrder(name); err != nil {
		return c, err
	}
	if err := checkNamed(name, rest, words); err != nil {
		return c, err
	}
	c.spec = job.Spec{Name: name, Schedule: schedule}
	bracketed := strings.HasPrefix(rest, "[")
	if bracketed {
		options, after, closed := strings.Cut(rest[1:], "]")
		if !closed {
			return c, errors.New("the options have no ]")
		}
		if err := c.setOptions(options); err != nil {
			return c, err
		}
		rest = strings.TrimSpace(after)
	}
	switch c.command = rest; {
	case !bracketed && optionOutside.MatchString(rest):
		return c, fmt.Errorf("the command of job %q is %q; options stand in [brackets], right after the name, and a name has no blank; before a command that begins so write []", name, shortened(rest))
	case rest == "":
		return c, fmt.Errorf("job %q after the schedule %q has no command; %s", name, schedule, cronForm)
	case strings.ContainsRune(name, 0):
		return c, fmt.Errorf("the name of job %q contains a NUL byte, which the variable HOLDFAST_NAME cannot have", name)
	case strings.ContainsRune(rest, 0):
		return c, fmt.Errorf("the command of job %q contains a NUL byte, which no command can have", name)
	}
	return c, c.spec.Check()
}

var optionInName = regexp.MustCompile(`\[[a-z-]+=`)

// checkOrder returns an error if the word for the name of a job contains its options.
func checkOrder(name string) error {
	const order = "write the name of the job, a blank, and then the options"
	switch {
	case strings.HasPrefix(name, "["):
		return fmt.Errorf("the name of the job is missing before %q; %s", shortened(name), order)
	case optionInName.MatchString(name):
		return fmt.Errorf("the options are part of the name %q; %s", shortened(name), order)
	}
	return nil
}

var (
	fieldLike = regexp.MustCompile(`^[0-9*?/,LW#-]+$`)
	// begins contains words with which a command begins. Nobody calls a job so.
	begins = []string{
		"cd", "sh", "bash", "exec", "env", "sudo", "nice", "ionice", "flock", "[", "[[", ".", "source", "if", "for", "while", "(", "{",
	}
	// ambiguous contains words with which a command begins, and which may be the name of a job.
	ambiguous = []string{"timeout", "test", "eval", "export", "set", "echo"}
	// weekdays matches a sixth field of the schedule that has names. A job may be called dec or may.
	weekdays = regexp.MustCompile(`(?i)^((sun|mon|tue|wed|thu|fri|sat)[-,#0-9]*)+$`)
)

// checkNamed returns an error if a line was probably written for another cron, so that a part of the schedule, the user
// or the command became the name of the job. Otherwise only a part of the command would run, or at other times.
func checkNamed(name, rest string, words int) error {
	switch {
	case words == 5 && (fieldLike.MatchString(name) || weekdays.MatchString(name)):
		return fmt.Errorf("%q after five fields looks like a sixth field of the schedule; write minute, hour, day, month and weekday without seconds, and then the name of the job", name)
	case quotedName(name, rest) != "":
		whole := quotedName(name, rest)
		return fmt.Errorf("the name of the job, %s, has quotes; write it without quotes and blanks, such as %s", whole,
			strings.Join(strings.Fields(strings.Trim(whole, `"'`)), "-"))
	case strings.ContainsAny(name, `"'=`):
		return fmt.Errorf("the job is called %s, and its command is %q; write a name without a blank, quotes or =, and then the command", name, shortened(rest))
	case strings.HasPrefix(rest, "-"):
		return fmt.Errorf("the job is called %q, and its command is %q; the name of the job is missing before the command", name, shortened(rest))
	case name == "holdfast" && (strings.HasPrefix(rest, "run ") || strings.HasPrefix(rest, "hold ") || strings.HasPrefix(rest, "lead ")):
		return errors.New("the line is one of crontab; in this file write the job alone, without holdfast run, as in: 0 * * * *  hourly-report  ./report.sh")
	case name == "root":
		return fmt.Errorf("the job is called %q, and its command is %q; write the name of the job there, because a line has no field for a user, unlike those of /etc/crontab", name, shortened(rest))
	case strings.HasPrefix(name, "/"), strings.HasPrefix(name, "./"), strings.HasPrefix(name, "~"), slices.Contains(begins, name),
		slices.Contains(ambiguous, name) && !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "./"):
		return fmt.Errorf("the job is called %q, and its command is %q; the name of the job is missing before the command", name, shortened(rest))
	}
	return nil
}

// quotedName returns the name of a job that is written in quotes, with the quotes; "" if it is not. rest is what follows
// its first word.
func quotedName(name, rest string) string {
	mark := name[:1]
	if mark != `"` && mark != "'" {
		return ""
	}
	inner, _, closed := strings.Cut((name + " " + rest)[1:], mark)
	if !closed || strings.TrimSpace(inner) == "" {
		return ""
	}
	return mark + inner + mark
}

// cutWords splits a line after n words. It returns false if there are fewer words, or if nothing follows them.
func cutWords(line string, n int) (words, rest string, ok bool) {
	rest = strings.TrimSpace(line)
	var all []string
	for range n {
		i := strings.IndexAny(rest, " \t")
		if i < 0 {
			return strings.Join(append(all, rest), " "), "", false
		}
		all, rest = append(all, rest[:i]), strings.TrimSpace(rest[i:])
	}
	return strings.Join(all, " "), rest, true
}
