package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// This file has the metrics of holdfast run --metrics-textfile. node_exporter reads them from a folder of files
// (--collector.textfile.directory).

// textFile is a flag with the path of a file for node_exporter.
type textFile string

func (t *textFile) String() string { return string(*t) }

func (*textFile) Type() string { return "PATH" }

func (t *textFile) Set(path string) error {
	if base := filepath.Base(path); !strings.HasSuffix(base, ".prom") || base == ".prom" {
		return errors.New("want a file whose name ends in .prom, because node_exporter reads no other files")
	}
	*t = textFile(path)
	return nil
}

// runRecord is what a run notes for its metrics. A nil record notes nothing.
type runRecord struct {
	path, name   string
	invoked      time.Time
	asked        time.Time // zero: the run did not ask for the lock
	waited       time.Duration
	fence        string
	began, ended time.Time // the times of the command; ended is zero if it did not run

	ofTick   bool             // the run is one of --tick, so the file has the metrics of the job
	jobKnown bool             // the nodes said what they know about the job; only if ofTick
	job      []jobmetrics.Job // the job; none: the nodes do not know it
}

// newRunRecord returns the record of a run that begins now, or nil if path is "".
func newRunRecord(path textFile, name string) *runRecord {
	if path == "" {
		return nil
	}
	return &runRecord{path: string(path), name: name, invoked: time.Now()}
}

// noteQuestion notes that the run asks for the lock now.
func (r *runRecord) noteQuestion() {
	if r != nil {
		r.asked = time.Now()
	}
}

// noteAnswer notes that the run has the lock, or knows that it does not get it.
func (r *runRecord) noteAnswer() {
	if r != nil && r.waited == 0 {
		r.waited = time.Since(r.asked)
	}
}

// noteStart notes that the command begins now under a token.
func (r *runRecord) noteStart(fence string) {
	if r != nil {
		r.began, r.fence = time.Now(), fence
	}
}

// noteEnd notes that the command has ended.
func (r *runRecord) noteEnd() {
	if r != nil {
		r.ended = time.Now()
	}
}

// lastRun are the metrics that a skipped run keeps from the file. It keeps exitCode only if it exits with 0.
var lastRun = []string{runStart, runDuration, runFence}

const (
	runInvoked  = "holdfast_run_invoked_timestamp_seconds"
	runSkipped  = "holdfast_run_skipped"
	runWait     = "holdfast_run_wait_seconds"
	runExitCode = "holdfast_run_exit_code"
	runStart    = "holdfast_run_start_timestamp_seconds"
	runDuration = "holdfast_run_duration_seconds"
	runFence    = "holdfast_run_fence"
)

// helps has the metrics in the order of the file.
var helps = []struct{ metric, help string }{
	{runInvoked, "When holdfast run was last called."},
	{runSkipped, "1 if the last call ran no command because somebody else had the lock or the tick."},
	{runWait, "Time from the question for the lock to the answer in the last call."},
	{runExitCode, "Exit code of the last call that was not skipped with 0."},
	{runStart, "When the command last began."},
	{runDuration, "How long the command last ran."},
	{runFence, "Fencing token of the last run of the command."},
}

// write writes the metrics of a run that ends with this exit code. The file is replaced at once, so node_exporter never
// reads half of it.
func (r *runRecord) write(code int) error {
	old, _ := os.ReadFile(r.path) // an unreadable file has no last run
	text := append(r.text(code, lastValues(old, r.name)), r.jobText(old)...)
	temporary, err := os.CreateTemp(filepath.Dir(r.path), "."+filepath.Base(r.path)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()) // node_exporter is another user
	if err == nil {
		err = os.Rename(temporary.Name(), r.path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// text returns the file. last has the values of the file before.
func (r *runRecord) text(code int, last map[string]string) []byte {
	ran := !r.ended.IsZero()
	skipped := !ran && (code == exitOK || code == exitHeld)
	values := map[string]string{
		runInvoked: seconds(float64(r.invoked.UnixMilli()) / 1000), runSkipped: "0",
		runWait: seconds(r.waited.Seconds()), runExitCode: strconv.Itoa(code),
	}
	kept := lastRun
	if skipped {
		values[runSkipped] = "1"
		if code == exitOK {
			delete(values, runExitCode)
			kept = append([]string{runExitCode}, kept...)
		}
	}
	for _, metric := range kept {
		if v, ok := last[metric]; ok {
			values[metric] = v
		}
	}
	if ran {
		values[runStart] = seconds(float64(r.began.UnixMilli()) / 1000)
		values[runDuration], values[runFence] = seconds(r.ended.Sub(r.began).Seconds()), r.fence
	}
	var b bytes.Buffer
	for _, h := range helps {
		if v, ok := values[h.metric]; ok {
			fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n%s{name=%s} %s\n", h.metric, h.help, h.metric, h.metric, labelValue(r.name), v)
		}
	}
	return b.Bytes()
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// labelValue returns a name as the value of a label: in quotes, with \ for special characters, and valid UTF-8.
func labelValue(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// lastValues returns the numbers of a name in a file that write wrote. The file may be that of another name.
func lastValues(file []byte, name string) map[string]string {
	values := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		line := lines.Text()
		metric, label, _ := strings.Cut(line, "{")
		at := strings.LastIndexByte(line, ' ')
		if !strings.HasPrefix(label, "name="+labelValue(name)+"} ") {
			continue
		}
		if _, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			values[metric] = line[at+1:]
		}
	}
	return values
}

// writeMetrics writes the metrics of a run. If that fails, it says so: the result of the command is more important.
func (a *app) writeMetrics(r *runRecord, err error) {
	if r == nil {
		return
	}
	code := exitOK
	if err != nil {
		code = asFailure(err).code
	}
	if err := r.write(code); err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // without the path, which is that of a temporary file
		}
		a.say("the metrics were not written to %s: %s; this user must be able to write into its folder", printable.Quoted(r.path), err)
	}
}
