//go:build linux

package incident

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// ward has three servers, a page and its metrics. Its operator uses the program.
type ward struct {
	t       *testing.T
	servers []*redistest.Server
	file    string // the list of nodes that the operator and the fleet use
	page    string // host and port of holdfast ui
	metrics string // host and port of its metrics
	fleet   string // host and port for the metrics of another process, if a fault starts one
}

// maxTTL is the longest TTL of all processes of a ward. Quarantines are as long.
const maxTTL = "4s"

// binary builds the program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "incident-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "holdfast")
	out, err := exec.Command("go", "build", "-o", path, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

func newWard(t *testing.T) *ward {
	t.Helper()
	w := &ward{t: t, servers: redistest.StartN(t, 3, redistest.WithClock()), file: filepath.Join(t.TempDir(), "nodes")}
	var urls []string
	for _, s := range w.servers {
		urls = append(urls, s.URL())
	}
	w.list(urls...)
	w.page, w.metrics, w.fleet = free(t), free(t), free(t)
	w.start("ui", "--listen", w.page, "--metrics-listen", w.metrics)
	redistest.Eventually(t, time.Minute, "the nodes to vote", func() bool {
		_, code := w.run("nodes")
		return code == 0
	})
	return w
}

// list writes the list of nodes.
func (w *ward) list(urls ...string) {
	w.t.Helper()
	if err := os.WriteFile(w.file, []byte(strings.Join(urls, "\n")+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// addr returns the address of a node as the program shows it.
func (w *ward) addr(i int) string { return w.servers[i].URL() + "/0" }

// free returns a free address of this machine.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// command returns a command of the program.
func (w *ward) command(args ...string) *exec.Cmd {
	w.t.Helper()
	path, err := binary()
	if err != nil {
		w.t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), "HOLDFAST_NODES_FILE="+w.file, "HOLDFAST_NODES=", "HOLDFAST_MAX_TTL="+maxTTL, "HOLDFAST_TTL="+maxTTL, "TERM=xterm")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return c
}

// run runs the program, and returns what it printed and its exit code.
func (w *ward) run(args ...string) (string, int) {
	w.t.Helper()
	c := w.command(args...)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// process is a process of the program in the background.
type process struct {
	*exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// end kills the process and its children.
func (p *process) end() {
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
	_ = p.Wait()
}

// start starts the program in the background. It ends with the test.
func (w *ward) start(args ...string) *process {
	w.t.Helper()
	p := &process{Cmd: w.command(args...)}
	p.Stdout, p.Stderr = p, p
	p.WaitDelay = time.Second
	if err := p.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		p.end()
		if w.t.Failed() {
			w.t.Logf("holdfast %s printed:\n%s", strings.Join(args, " "), p.printed())
		}
	})
	return p
}

// cron starts holdfast cron with a file of these lines.
func (w *ward) cron(lines ...string) *process {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "jobs")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return w.start("cron", file)
}
