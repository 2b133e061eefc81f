//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// redisson is Redisson 4 with the Java program of verify/interop: each process of a run has a Java process. A lock without
// a lease time is renewed by the watchdog. Redisson tells nobody that a lock is lost.
type redisson struct {
	java          *selfexec.Child
	lock, release string   // commands of the Java program
	arguments     []string // of the command lock

	mu      sync.Mutex
	asked   int
	waiting map[string]chan string
	// A lock belongs to a Java thread, which may take it again. So no two holders or waiters have the same thread, and a
	// thread with a call that failed is not used again.
	free    []string
	threads int
}

func openRedisson(r role) (system, error) {
	return startRedisson(r, &redisson{lock: "wait", release: "unlock", arguments: []string{strconv.FormatInt(patience.Milliseconds(), 10)}})
}

// openRedissonFenced opens RFencedLock, whose tokens are counted in the cluster.
func openRedissonFenced(r role) (system, error) {
	return startRedisson(r, &redisson{lock: "fenced", release: "fenced-unlock"})
}

// buildRedisson compiles the Java program, and returns its class path.
func buildRedisson() (string, error) {
	dir, err := filepath.Abs("../interop/redisson")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("mvn", "-q", "-B", "compile", "dependency:copy-dependencies", "-DoutputDirectory=target/lib")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mvn in verify/interop/redisson: %w (make interop-deps installs a JDK and Maven)\n%s", err, out)
	}
	return dir + "/target/classes:" + dir + "/target/lib/*", nil
}

func startRedisson(r role, s *redisson) (system, error) {
	s.waiting = map[string]chan string{"0": make(chan string, 1)}
	ready := s.waiting["0"]
	cmd := exec.Command("java", "-XX:+UseSerialGC", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", r.ClassPath,
		"Peer", "cluster", strings.Join(r.Addrs, ","), strconv.FormatInt(r.TTL.Milliseconds(), 10), "-")
	var err error
	if s.java, err = selfexec.Start(cmd, s.hear); err != nil {
		return nil, err
	}
	select {
	case <-ready:
		return s, nil
	case <-s.java.Gone:
		return nil, fmt.Errorf("java: %w", s.java.Err)
	}
}

func (s *redisson) hear(line string) {
	id, text, _ := strings.Cut(line, " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.waiting[id]; c != nil {
		delete(s.waiting, id)
		c <- text
	}
}

// send sends a command for a thread. The channel gets the answer.
func (s *redisson) send(thread, command, name string, args ...string) (answer <-chan string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	id := strconv.Itoa(s.asked)
	c := make(chan string, 1)
	s.waiting[id] = c
	return c, s.java.Tell(strings.Join(append([]string{id, thread, command, name}, args...), " "))
}

// thread returns a thread that nobody uses.
func (s *redisson) thread() (t string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		t, s.free = s.free[n-1], s.free[:n-1]
		return t
	}
	s.threads++
	return "t" + strconv.Itoa(s.threads)
}

func (s *redisson) leave(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, thread)
}

func (s *redisson) Lock(ctx context.Context, name string) (context.Context, int64, func(context.Context) error, error) {
	thread := s.thread()
	answer, err := s.send(thread, s.lock, name, s.arguments...)
	if err != nil {
		return nil, 0, nil, err
	}
	unlock := func(ctx context.Context) error {
		done, err := s.send(thread, s.release, name)
		if err == nil {
			_, err = await(ctx, done)
		}
		if err == nil {
			s.leave(thread)
		}
		return err
	}
	value, err := await(ctx, answer)
	if err != nil {
		if ctx.Err() != nil {
			go func() { // the lock may still come
				if value, err := await(context.Background(), answer); err == nil && value != "false" {
					_ = unlock(context.Background())
				}
			}()
		}
		return nil, 0, nil, err
	}
	if value == "false" {
		s.leave(thread)
		return nil, 0, nil, context.DeadlineExceeded
	}
	token, _ := strconv.ParseInt(value, 10, 64) // 0 for "true"
	return context.Background(), token, unlock, nil
}

// await returns the value of an answer.
func await(ctx context.Context, answer <-chan string) (string, error) {
	select {
	case text := <-answer:
		if value, ok := strings.CutPrefix(text, "ok "); ok {
			return value, nil
		}
		return "", errors.New(text)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *redisson) Close() {
	_ = s.java.Stdin.Close()
	select {
	case <-s.java.Gone:
	case <-time.After(5 * time.Second): // a thread still waits for a lock
		s.java.Kill()
	}
}
