package goredisnode

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// naming starts a server that answers as a Sentinel does. It names the master at the stored address, so a test can
// change the master at an instant that a real Sentinel would not hit.
func naming(t *testing.T, at *atomic.Value) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	serve := func(c net.Conn) {
		defer c.Close()
		for in := bufio.NewReader(c); ; {
			asked, err := driver.ReadAnswer(in)
			if err != nil {
				return
			}
			host, port, _ := net.SplitHostPort(at.Load().(string))
			switch words := strings.ToLower(strings.Join(asked.Words, " ")); {
			case strings.HasPrefix(words, "sentinel get-master"):
				_, _ = c.Write(driver.Command(host, port))
			case strings.HasPrefix(words, "sentinel sentinels"):
				fmt.Fprint(c, "*0\r\n")
			case strings.HasPrefix(words, "subscribe"):
				for _, name := range asked.Words[1:] {
					fmt.Fprintf(c, "*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1\r\n", len(name), name)
				}
			case strings.HasPrefix(words, "hello"):
				fmt.Fprint(c, "-ERR unknown command\r\n")
			default:
				fmt.Fprint(c, "+OK\r\n")
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

// The Sentinels may name another master in the moment between the first connection of a reign and the first look at
// the Sentinels. The connection knows its own address, so the node follows at the next look. Without that, the node
// follows only when the connection ends, in one set-up of four.
func TestAFailoverRightAfterTheFirstConnectionIsFound(t *testing.T) {
	for i := range 6 {
		t.Run(fmt.Sprint(i), failsOver)
	}
}

func failsOver(t *testing.T) {
	t.Parallel()
	former, present := redistest.Start(t), redistest.Start(t)
	var at atomic.Value
	at.Store(former.Addr())
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{naming(t, &at)}})
	defer c.Close()
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	port := func() string {
		return driver.InfoField(n.(node.Commander).Do(t.Context(), "INFO", "server").Value, "tcp_port")
	}
	if got := port(); !strings.HasSuffix(former.Addr(), ":"+got) {
		t.Fatalf("the first connection leads to port %q, and the master is %s", got, former.Addr())
	}
	at.Store(present.Addr())
	follows := 0
	for end := time.Now().Add(6 * time.Second); follows < 10; time.Sleep(20 * time.Millisecond) {
		if follows++; !strings.HasSuffix(present.Addr(), ":"+port()) {
			follows = 0
		}
		if time.Now().After(end) {
			t.Fatalf("6 s after the failover the node still uses %s", former.Addr())
		}
	}
}
