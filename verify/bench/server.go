package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// server is one redis-server process without persistence, on a free loopback port. It ends with this process.
type server struct {
	dir    string
	addr   string
	run    string // run id
	cmd    *exec.Cmd
	client *redis.Client // the connection of the bench itself
}

func startServers(n int) (servers []*server, err error) {
	for range n {
		s, err := startServer()
		if err != nil {
			stopServers(servers)
			return nil, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

func stopServers(servers []*server) {
	for _, s := range servers {
		s.stop()
	}
}

func startServer() (*server, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	for range 5 { // another process may take the port between the check and the bind
		var port int
		if port, err = freePort(); err != nil {
			break
		}
		s := &server{dir: dir, addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
		if err = s.launch(port); err == nil {
			return s, nil
		}
		s.kill()
	}
	_ = os.RemoveAll(dir)
	return nil, err
}

func (s *server) launch(port int) error {
	s.cmd = exec.Command(cmp.Or(os.Getenv("SERVER"), "redis-server"), "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--logfile", filepath.Join(s.dir, "log"))
	if err := parentdeath.Start(s.cmd); err != nil {
		return fmt.Errorf("start redis-server (make deps installs it): %w", err)
	}
	s.client = redis.NewClient(&redis.Options{Addr: s.addr, DisableIdentity: true, MaxRetries: -1})
	self := fmt.Sprintf("process_id:%d\r\n", s.cmd.Process.Pid)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		// This probe comes first, because go-redis writes a line to stderr for each refused dial.
		if c, err := net.Dial("tcp", s.addr); err != nil {
			continue
		} else {
			_ = c.Close()
		}
		if info, err := s.info("server"); err == nil && strings.Contains(info, self) {
			s.run = field(info, "run_id")
			return nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return fmt.Errorf("redis-server on %s does not answer: %s", s.addr, bytes.TrimSpace(log))
}

func (s *server) url() string { return "redis://" + s.addr }

func (s *server) stop() {
	s.kill()
	_ = os.RemoveAll(s.dir)
}

func (s *server) kill() {
	if s.client != nil {
		_ = s.client.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// fresh empties the server and makes it vote at once, without a quarantine. No lock is alive on it.
func (s *server) fresh(ctx context.Context) error {
	return errors.Join(
		s.client.FlushAll(ctx).Err(),
		s.client.ConfigResetStat(ctx).Err(),
		s.client.HSet(ctx, nodescript.AdmissionKey, nodescript.Served(s.run, 0)).Err(),
	)
}

func (s *server) info(sections ...string) (string, error) {
	return s.client.Info(context.Background(), sections...).Result()
}

// tally has the work of a server since its start.
type tally struct {
	CPU   time.Duration
	Calls map[string]int // the number of calls by command, including calls inside scripts
}

func (s *server) tally() (tally, error) {
	t := tally{Calls: map[string]int{}}
	info, err := s.info("cpu", "commandstats")
	if err != nil {
		return t, err
	}
	for _, f := range []string{"used_cpu_sys", "used_cpu_user"} {
		sec, _ := strconv.ParseFloat(field(info, f), 64)
		t.CPU += time.Duration(sec * float64(time.Second))
	}
	for _, m := range statLine.FindAllStringSubmatch(info, -1) {
		n, _ := strconv.Atoi(m[2])
		t.Calls[m[1]] += n // the sum over its subcommands
	}
	return t, nil
}

var statLine = regexp.MustCompile(`(?m)^cmdstat_([^:|]+)[^:]*:calls=(\d+)`)

func field(info, name string) string {
	_, after, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(after, "\r")
	return value
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
