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

// send sends a command for a new thread or for that of an earlier command. The channel gets the answer.
func (s *redisson) send(thread, command, name string, args ...string) (id string, answer <-chan string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	id = strconv.Itoa(s.asked)
	if thread == "" {
		thread = id
	}
	c := make(chan string, 1)
	s.waiting[id] = c
	return id, c, s.java.Tell(strings.Join(append([]string{id, thread, command, name}, args...), " "))
}

// threads is the number of Java threads that a process uses in turn. A thread that waits for a lock that nobody wants any
// longer does not stop the others.
const threads = 64

func (s *redisson) Lock(ctx context.Context, name string) (context.Context, int64, func(context.Context) error, error) {
	s.mu.Lock()
	thread := "t" + strconv.Itoa(s.asked%threads)
	s.mu.Unlock()
	_, answer, err := s.send(thread, s.lock, name, s.arguments...)
	if err != nil {
		return nil, 0, nil, err
	}
	unlock := func(ctx context.Context) error {
		_, done, err := s.send(thread, s.release, name)
		if err != nil {
			return err
		}
		_, err = await(ctx, done)
		return err
	}
	value, err := await(ctx, answer)
	if errors.Is(err, context.Cause(ctx)) && ctx.Err() != nil {
		go func() { // the lock may still come
			if value, err := await(context.Background(), answer); err == nil && value != "false" {
				_ = unlock(context.Background())
			}
		}()
	}
	if err != nil {
		return nil, 0, nil, err
	}
	if value == "false" {
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
