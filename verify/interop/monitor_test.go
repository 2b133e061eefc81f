package interop

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// command is a command of a client that a server ran.
type command struct {
	at   time.Duration // by the server's clock
	from string        // the client's address, or "lua" for a command inside a script
	text string        // all words, in quotes
}

// monitor notes every command of a server.
type monitor struct {
	t    testing.TB
	mu   sync.Mutex
	cond *sync.Cond
	all  []command
}

// watch starts a MONITOR.
func watch(t testing.TB, s *redistest.Server) *monitor {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprint(conn, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	m := &monitor{t: t}
	m.cond = sync.NewCond(&m.mu)
	in := bufio.NewScanner(conn)
	in.Buffer(nil, 1<<20)
	if !in.Scan() || in.Text() != "+OK" {
		t.Fatalf("MONITOR: %q", in.Text())
	}
	go func() {
		for in.Scan() {
			// +1700000000.123456 [0 127.0.0.1:5000] "evalsha" "…"
			line := strings.TrimPrefix(in.Text(), "+")
			stamp, rest, _ := strings.Cut(line, " [0 ")
			from, text, ok := strings.Cut(rest, "] ")
			sec, us, _ := strings.Cut(stamp, ".")
			s, err1 := strconv.ParseInt(sec, 10, 64)
			u, err2 := strconv.ParseInt(us, 10, 64)
			if !ok || err1 != nil || err2 != nil {
				continue
			}
			m.mu.Lock()
			m.all = append(m.all, command{time.Duration(s)*time.Second + time.Duration(u)*time.Microsecond, from, text})
			m.cond.Broadcast()
			m.mu.Unlock()
		}
	}()
	return m
}

// now returns the position behind the last command.
func (m *monitor) now() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all)
}

// since returns the commands behind a position.
func (m *monitor) since(from int) []command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[from:len(m.all):len(m.all)]
}

// await waits for a command behind a position, and returns the position behind it and the command.
func (m *monitor) await(from int, what string, is func(command) bool) (int, command) {
	m.t.Helper()
	late := time.AfterFunc(within, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.cond.Broadcast()
	})
	defer late.Stop()
	began := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		for ; from < len(m.all); from++ {
			if is(m.all[from]) {
				return from + 1, m.all[from]
			}
		}
		if time.Since(began) >= within {
			m.t.Fatalf("not within %v: %s", within, what)
		}
		m.cond.Wait()
	}
}
