package interop

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

const within = 30 * time.Second // the longest wait for something that must happen

// The folders with the libraries of a version of Redisson.
const (
	newest = "lib"      // that of pom.xml
	older  = "lib-3.52" // the last one of the series before, which many fleets have
)

// build compiles the Java side once. Maven gets Redisson from its registry, or from its own store.
var build = sync.OnceValue(func() error {
	for _, args := range [][]string{
		{"compile", "dependency:copy-dependencies", "-DoutputDirectory=target/" + newest},
		{"dependency:copy-dependencies", "-DoutputDirectory=target/" + older, "-Dredisson.version=3.52.0"},
	} {
		cmd := exec.Command("mvn", append([]string{"-q", "-B"}, args...)...)
		cmd.Dir = "redisson"
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("mvn in verify/interop/redisson: %w (make interop installs a JDK and Maven)\n%s", err, out)
		}
	}
	return nil
})

// peer is a Java process with one RedissonClient, or one for each server.
type peer struct {
	t       testing.TB
	servers []*redistest.Server
	cmd     *exec.Cmd
	in      io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[string]chan string
	over    bool
}

type mode string

const (
	single  mode = "single"
	cluster mode = "cluster" // a Redis Cluster
	red     mode = "red"     // RedissonRedLock
)

// newPeer starts a Java process with the newest Redisson. It has ended when the test ends.
func newPeer(t testing.TB, m mode, servers []*redistest.Server, watchdog time.Duration, prefix string) *peer {
	t.Helper()
	return startPeer(t, newest, m, servers, watchdog, prefix)
}

// startPeer starts a Java process with the libraries of a folder.
func startPeer(t testing.TB, lib string, m mode, servers []*redistest.Server, watchdog time.Duration, prefix string) *peer {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	target, err := filepath.Abs("redisson/target")
	if err != nil {
		t.Fatal(err)
	}
	if prefix == "" {
		prefix = "-"
	}
	p := &peer{t: t, servers: servers, waiting: map[string]chan string{"0": make(chan string, 1)}}
	p.cmd = exec.Command("java", "-XX:+UseSerialGC", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", target+"/classes:"+target+"/"+lib+"/*",
		"Peer", string(m), strings.Join(addrs, ","), fmt.Sprint(watchdog.Milliseconds()), prefix)
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parentdeath.Start(p.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	go p.read(out)
	if got := p.await(p.waiting["0"]); got != "ready" {
		t.Fatalf("java says %q", got)
	}
	return p
}

func (p *peer) read(out io.Reader) {
	in := bufio.NewScanner(out)
	for in.Scan() {
		id, text, _ := strings.Cut(in.Text(), " ")
		p.mu.Lock()
		if c := p.waiting[id]; c != nil {
			delete(p.waiting, id)
			c <- text
		}
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, c := range p.waiting {
		c <- "error Ended: the process has ended"
	}
	clear(p.waiting)
}

// start sends a command for a thread of the process. The channel gets the answer.
func (p *peer) start(thread, command, name string, args ...string) <-chan string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	id := fmt.Sprint(p.next)
	c := make(chan string, 1)
	if p.over {
		c <- "error Ended: the process has ended"
		return c
	}
	p.waiting[id] = c
	line := strings.Join(append([]string{id, thread, command, name}, args...), " ")
	_, _ = io.WriteString(p.in, line+"\n") // if it fails, the process has ended, and read says so
	return c
}

// await returns the value of an answer, or "Class: message" of an exception.
func (p *peer) await(c <-chan string) string {
	p.t.Helper()
	select {
	case text := <-c:
		_, value, _ := strings.Cut(text, " ")
		return value
	case <-time.After(2 * within):
		p.t.Fatal("no answer of java")
		return ""
	}
}

// do runs a command and returns its value.
func (p *peer) do(thread, command, name string, args ...string) string {
	p.t.Helper()
	return p.await(p.start(thread, command, name, args...))
}

// must runs a command that has to return want.
func (p *peer) must(want, thread, command, name string, args ...string) {
	p.t.Helper()
	if got := p.do(thread, command, name, args...); got != want {
		p.t.Fatalf("java %s %s %s: %q, want %q", thread, command, name, got, want)
	}
}

// dropLatches deletes the latches that the older version leaves: it deletes another key after each unlock.
func dropLatches(t testing.TB, s *redistest.Server, lib string) {
	t.Helper()
	if lib == older {
		for _, key := range s.MustDo(t, "KEYS", "redisson_unlock_latch:*").([]any) {
			s.MustDo(t, "DEL", key)
		}
	}
}

// quit ends the process in an orderly way. Redisson deletes the latch of an unlock after unlock has returned, so a
// process that is killed at that moment leaves the latch for its time, some 20 s.
func (p *peer) quit() {
	p.t.Helper()
	for _, s := range p.servers {
		redistest.Eventually(p.t, within, "no latch is left", func() bool {
			keys, err := s.Do("KEYS", "redisson_unlock_latch:*")
			return err != nil || len(keys.([]any)) == 0 // an error: the test has killed the server
		})
	}
	_ = p.in.Close() // an error says that it has ended
	ended := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(within):
		p.t.Error("java does not end")
	}
}

// kill ends the process as kill -9 does.
func (p *peer) kill() {
	_ = p.cmd.Process.Kill() // an error says that it has ended
	_ = p.cmd.Wait()
}
