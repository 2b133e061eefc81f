package driver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

func infoOf(run string, up int) string {
	return bulk(fmt.Sprintf("# Server\r\nrun_id:%s\r\nuptime_in_seconds:%d\r\n", run, up))
}

// accounts is the server's side of a connection: it answers each write with the next answers, size bytes at a time.
func accounts(t *testing.T, c net.Conn, size int, answers ...string) (writes chan string) {
	writes = make(chan string, len(answers))
	go func() {
		b := make([]byte, 4096)
		for _, a := range answers {
			n, err := c.Read(b)
			if err != nil {
				return
			}
			writes <- string(b[:n])
			for from := 0; from < len(a); from += size {
				if _, err := c.Write([]byte(a[from:min(from+size, len(a))])); err != nil {
					return
				}
			}
		}
	}()
	return writes
}

func dialled(t *testing.T, s *Site, began clock.Instant, size int, answers ...string) (net.Conn, chan string) {
	mine, theirs := net.Pipe()
	t.Cleanup(func() { _, _ = mine.Close(), theirs.Close() })
	return Bound(s.Prove(mine, began, nil)), accounts(t, theirs, size, answers...)
}

func identityOf(c net.Conn) (node.Identity, error) {
	return c.(interface{ Identity() (node.Identity, error) }).Identity()
}

// The question goes out in the write of the handshake. The library gets the answers to its own commands only, however
// the network cuts them, and its next write waits for the proof.
func TestAConnectionProvesWhereItLeadsInItsHandshake(t *testing.T) {
	t.Parallel()
	hello := "*3\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n" // the server does not look at it
	for size := 1; size < 300; size += 7 {
		var s Site
		c, writes := dialled(t, &s, s.Now(), size, "%1\r\n+server\r\n+redis\r\n+OK\r\n"+infoOf("abc", 7), "+PONG\r\n")
		if _, err := c.Write(append([]byte(hello), Command("SELECT", "0")...)); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		var got string
		for range 4 {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			got += line
		}
		if got != "%1\r\n+server\r\n+redis\r\n+OK\r\n" {
			t.Errorf("in pieces of %d: the library reads %q", size, got)
		}
		if w := <-writes; !strings.HasSuffix(w, string(whoAreYou)) || strings.Count(w, "INFO") != 1 {
			t.Errorf("the handshake is %q", w)
		}
		if _, err := c.Write(Command("PING")); err != nil {
			t.Fatal(err)
		}
		if w := <-writes; w != string(Command("PING")) {
			t.Errorf("the next write is %q", w)
		}
		if line, err := in.ReadString('\n'); line != "+PONG\r\n" {
			t.Errorf("in pieces of %d: the library reads %q, %v", size, line, err)
		}
		if id, err := identityOf(c); id.Run != "abc" || id.Up != 7*time.Second || err != nil {
			t.Errorf("the identity is %+v, %v", id, err)
		}
	}
}

// AUTH comes only in the second write. A server that does not know INFO is asked once.
func TestTheQuestionIsRepeatedAfterAnAuth(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, refusal, run string
		asked              int
	}{
		{"AUTH later", "-NOAUTH Authentication required.\r\n", "abc", 2},
		{"no INFO", "-ERR unknown command 'INFO'\r\n", "", 1},
		{"no right", "-NOPERM no permissions\r\n", "", 1},
	} {
		var s Site
		answers := []string{"-NOAUTH HELLO\r\n" + x.refusal, "+OK\r\n"}
		if x.asked == 2 {
			answers[1] += infoOf("abc", 1)
		}
		c, writes := dialled(t, &s, s.Now(), 1000, answers...)
		in := bufio.NewReader(c)
		all := ""
		for _, want := range []string{"-NOAUTH HELLO\r\n", "+OK\r\n"} {
			if _, err := c.Write(Command("X")); err != nil {
				t.Fatal(err)
			}
			if line, err := in.ReadString('\n'); line != want {
				t.Errorf("%s: the library reads %q, %v; want %q", x.name, line, err, want)
			}
			all += <-writes
		}
		if n := strings.Count(all, string(whoAreYou)); n != x.asked {
			t.Errorf("%s: asked %d times, want %d", x.name, n, x.asked)
		}
		if id, err := identityOf(c); id.Run != x.run || err != nil {
			t.Errorf("%s: the identity is %+v, %v", x.name, id, err)
		}
	}
}

// What one site learns from a row of connections.
func TestASiteTellsARestartFromSeveralServers(t *testing.T) {
	t.Parallel()
	type lead struct {
		run string
		up  int
	}
	for _, x := range []struct {
		name     string
		named    bool
		leads    []lead
		moved    int
		returned bool
	}{
		{"one server", false, []lead{{"a", 90}, {"a", 90}}, 0, false},
		{"two restarts", false, []lead{{"a", 90}, {"b", 0}, {"c", 0}}, 0, false},
		{"a move", false, []lead{{"a", 90}, {"b", 90}}, 1, false},
		{"two servers in turns", false, []lead{{"a", 90}, {"b", 90}, {"a", 90}}, 2, true},
		{"two that started now", false, []lead{{"a", 0}, {"b", 0}, {"a", 0}}, 1, true},
		{"Sentinel names a former master", true, []lead{{"a", 90}, {"b", 90}, {"a", 90}}, 2, false},
	} {
		s := Site{Named: x.named}
		var conns []net.Conn
		for _, l := range x.leads {
			c, _ := dialled(t, &s, s.Now(), 1000, "+OK\r\n"+infoOf(l.run, l.up))
			_, _ = c.Write(Command("HELLO"))
			_, _ = io.ReadFull(c, make([]byte, 5))
			if id, err := identityOf(c); id.Run != l.run || err != nil {
				t.Errorf("%s: the identity is %+v, %v", x.name, id, err)
			}
			conns = append(conns, c)
		}
		if id := s.History(node.Identity{}); id.Moved != x.moved || id.Returned > 0 != x.returned {
			t.Errorf("%s: %+v; want %d moves, returned %v", x.name, id, x.moved, x.returned)
		}
		last := x.leads[len(x.leads)-1].run
		for i, c := range conns {
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, err := c.Read(make([]byte, 1))
			if open := node.Timeout(err); open != (x.leads[i].run == last && i == len(conns)-1 || x.leads[i].run == last && len(x.leads) == 2) {
				t.Errorf("%s: connection %d to %s is open: %v (%v)", x.name, i, x.leads[i].run, open, err)
			}
		}
	}
}

// A dial that began before the address moved may bring its proof after a dial that began later.
func TestALateProofMovesNoSite(t *testing.T) {
	t.Parallel()
	var s Site
	early := s.Now()
	for i, run := range []string{"new", "old"} {
		c, _ := dialled(t, &s, early.Add(time.Duration(1-i)*time.Millisecond), 1000, "+OK\r\n"+infoOf(run, 90))
		_, _ = c.Write(Command("HELLO"))
		_, _ = io.ReadFull(c, make([]byte, 5))
		if _, err := identityOf(c); (err != nil) != (run == "old") || err != nil && !node.Unsent(err) {
			t.Errorf("the connection to the %s server: %v", run, err)
		}
		if run == "old" {
			if _, err := c.Write(Command("PING")); err == nil {
				t.Error("a call went to the former server")
			}
		}
	}
	if id := s.History(node.Identity{}); id.Moved != 0 {
		t.Errorf("the site has moved %d times", id.Moved)
	}
}

// A context may end, and its connection be closed, while the answer of the server is read. Run with -race.
func TestAConnectionIsClosedWhileItProvesWhereItLeads(t *testing.T) {
	t.Parallel()
	var s Site
	c, _ := dialled(t, &s, s.Now(), 4096, "+OK\r\n"+infoOf("abc", 7))
	read, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		<-read
		_ = c.Close()
	}()
	if _, err := c.Write(Command("HELLO", "3")); err != nil {
		t.Fatal(err)
	}
	close(read)
	_, _ = identityOf(c) // it may fail: the connection may be closed first
	<-closed
}

// After a handshake that failed, rueidis reads and writes in two goroutines. Run with -race.
func TestAConnectionReadsAndWritesAtTheSameTimeAfterItsHandshake(t *testing.T) {
	t.Parallel()
	var s Site
	c, writes := dialled(t, &s, s.Now(), 4096, "-NOAUTH HELLO\r\n-NOAUTH INFO\r\n", "-NOAUTH PING\r\n")
	if _, err := c.Write(Command("HELLO", "3")); err != nil {
		t.Fatal(err)
	}
	<-writes
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); line != "-NOAUTH HELLO\r\n" {
		t.Fatalf("the library reads %q, %v", line, err)
	}
	if id, err := identityOf(c); id.Run != "" || err != nil {
		t.Fatalf("the identity is %+v, %v", id, err)
	}
	read := make(chan string)
	go func() {
		line, _ := in.ReadString('\n')
		read <- line
	}()
	go func() { _, _ = c.Write(Command("PING")) }()
	if w := <-writes; !strings.HasPrefix(w, string(Command("PING"))) {
		t.Errorf("the write is %q", w)
	}
	if line := <-read; line != "-NOAUTH PING\r\n" {
		t.Errorf("the library reads %q", line)
	}
}
