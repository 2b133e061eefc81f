package redistest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience limits every wait of this package. It is long, because two cores may run a whole test suite under the race
// detector.
const patience = 20 * time.Second

// Server is one redis-server process. Its methods are safe for concurrent use. If a method fails, it fails the test for
// which the server was started.
type Server struct {
	t       testing.TB
	cfg     config
	dir     string
	port    int
	tlsConf *tls.Config
	tlsPort int
	busPort int // of a server of a cluster

	mu     sync.Mutex
	proc   *process // nil while the server is killed
	client *client
}

// Start runs a server on a free loopback port and returns when it answers.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := start(t, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// StartN runs n servers in parallel, because each server needs a while to answer.
func StartN(t testing.TB, n int, opts ...Option) []*Server {
	t.Helper()
	servers, errs := make([]*Server, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() { servers[i], errs[i] = start(t, opts...) })
	}
	wg.Wait()
	// Fatal must run on the test's own goroutine, not on the goroutines above.
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return servers
}

// program returns the server program for the tests: redis-server, or the value of SERVER in the environment, such as
// valkey-server.
func program() string { return cmp.Or(os.Getenv("SERVER"), "redis-server") }

func start(t testing.TB, opts ...Option) (*Server, error) {
	if _, err := exec.LookPath(program()); err != nil {
		return nil, fmt.Errorf("%s is not installed; run: make deps SERVER=%[1]s", program())
	}
	// t.TempDir is not usable here, because with a long test name the path of a socket exceeds 107 bytes.
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, err
	}
	s := &Server{t: t, dir: dir}
	t.Cleanup(func() {
		s.Kill()
		_ = os.RemoveAll(dir)
	})
	for _, o := range opts {
		o(&s.cfg)
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	// Another process may take the port between this check and the server's bind.
	for range 10 {
		s.port, s.tlsPort = freePort(), freePort()
		if s.cfg.cluster {
			s.busPort = freePort()
		}
		if err = s.launch(true); !errors.Is(err, errPortTaken) {
			break
		}
	}
	return s, err
}

func (s *Server) prepare() error {
	if s.cfg.clock {
		if err := s.prepareClock(); err != nil {
			return err
		}
	}
	if s.cfg.tls {
		return s.prepareTLS()
	}
	return nil
}

func (s *Server) arguments() []string {
	args := []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir,
		"--daemonize", "no", "--save", "",
	}
	if s.cfg.durable {
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	} else {
		args = append(args, "--appendonly", "no")
	}
	if s.cfg.clock {
		// jemalloc's thread waits for an instant of the real clock, but computes the instant from the shifted one. If
		// that is behind, no wait lasts, and the thread would use a whole processor.
		args = append(args, "--jemalloc-bg-thread", "no")
	}
	if s.cfg.socket {
		args = append(args, "--unixsocket", s.socketPath())
	}
	if s.cfg.tls {
		args = append(args, "--tls-port", strconv.Itoa(s.tlsPort), "--tls-auth-clients", "no",
			"--tls-cert-file", filepath.Join(s.dir, "cert.pem"), "--tls-key-file", filepath.Join(s.dir, "key.pem"),
			"--tls-ca-cert-file", filepath.Join(s.dir, "cert.pem"))
	}
	if s.cfg.cluster {
		args = append(args, s.clusterArguments()...)
	}
	if s.cfg.password != "" {
		args = append(args, "--requirepass", s.cfg.password)
	}
	for _, u := range s.cfg.users {
		args = append(append(args, "--user"), strings.Fields(u)...)
	}
	return append(args, s.cfg.args...)
}

var errPortTaken = errors.New("redistest: port taken")

// launch starts the process. If ready is true, it waits until the process serves commands.
func (s *Server) launch(ready bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var env []string
	if s.cfg.clock {
		env = s.clockEnv()
	}
	p, err := spawn(filepath.Join(s.dir, "redis.log"), env, program(), s.arguments()...)
	if err != nil {
		return fmt.Errorf("redistest: start redis-server: %w", err)
	}
	s.proc, s.client = p, s.dial()
	if err := s.await(p, ready); err != nil {
		s.stop()
		return err
	}
	return nil
}

// await returns when this process answers. It checks the process id, because another process that took the port would
// also answer.
func (s *Server) await(p *process, ready bool) error {
	self := fmt.Sprintf("process_id:%d\r\n", p.pid())
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		info := s.client.text(context.Background(), "INFO")
		if s.cfg.blind && strings.Contains(s.Log(), "Ready to accept connections") {
			return nil
		}
		if strings.Contains(info, self) && (!ready || strings.Contains(info, "\r\nloading:0\r\n")) {
			return nil
		}
		select {
		case <-p.exited:
			log := s.Log()
			if strings.Contains(log, "Address already in use") {
				return errPortTaken
			}
			return fmt.Errorf("redistest: redis-server ended: %s", tail(log))
		case <-tick.C:
		}
	}
	return fmt.Errorf("redistest: redis-server does not answer: %s", tail(s.Log()))
}

// Kill ends the process at once (SIGKILL) and waits for its end.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

func (s *Server) stop() {
	if s.proc == nil {
		return
	}
	s.proc.kill()
	s.proc, s.client = nil, nil
}

// Restart kills the server if it runs, and starts it again on the same port and in the same directory. Only a [Durable]
// server keeps its data.
func (s *Server) Restart() {
	s.t.Helper()
	s.restart(true)
}

// RestartWith does the same as [Server.Restart], with other arguments instead of the arguments from [Args]. The new
// arguments also apply to later restarts.
func (s *Server) RestartWith(args ...string) {
	s.t.Helper()
	s.Kill()
	s.mu.Lock()
	s.cfg.args = args
	s.mu.Unlock()
	s.restart(true)
}

// Dir returns the directory with the server's files. A test may change them while the server is killed.
func (s *Server) Dir() string { return s.dir }

// RestartLoading does the same as [Server.Restart], but does not wait until the server has loaded the data. The server
// may answer with LOADING.
func (s *Server) RestartLoading() {
	s.t.Helper()
	s.restart(false)
}

func (s *Server) restart(ready bool) {
	s.t.Helper()
	s.Kill()
	if err := s.launch(ready); err != nil {
		s.t.Fatal(err)
	}
}

// Freeze stops the process as on a hung machine (SIGSTOP). Its kernel still accepts connections and bytes, but no
// answer comes.
func (s *Server) Freeze() { s.signal(freeze, "freeze") }

// Thaw ends [Server.Freeze]. The server then executes the requests that came in between.
func (s *Server) Thaw() { s.signal(thaw, "thaw") }

func (s *Server) signal(send func(*os.Process) error, what string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		s.t.Fatalf("redistest: %s: the server is killed", what)
	}
	if err := send(s.proc.cmd.Process); err != nil {
		s.t.Fatalf("redistest: %s: %v", what, err)
	}
}
