package interop

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// The protocol of a peer: one line "try NAME", "lock NAME" or "unlock NAME" on stdin, and one line as its answer on
// stdout: "ok", "refused" (only for try), or "error TEXT". The first line of the output is "ready". The end of the
// input ends the process. A peer of a shared lock knows the verb "holds", too. Its answer is "ok", or "lost MS" if the
// lock was lost so many ms ago and the library told its caller. The arguments are the library, the servers as
// host:port,host:port…, and the TTL in ms.

const peerEnv = "HOLDFAST_INTEROP_PEER"

// servePeer makes the test binary a peer, with one of goClients.
func servePeer(words []string) error {
	ttl, err := strconv.Atoi(words[2])
	if err != nil {
		return err
	}
	l, err := goClients[words[0]](strings.Split(words[1], ","), time.Duration(ttl)*time.Millisecond)
	if err != nil {
		return err
	}
	held := map[string]func() error{}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		verb, name, _ := strings.Cut(in.Text(), " ")
		var unlock func() error
		switch verb {
		case "try":
			unlock, err = l.try(name)
		case "lock":
			unlock, err = l.lock(name)
		case "unlock":
			err = held[name]()
		case "holds":
			if at := l.(watcher).lost(name); !at.IsZero() {
				fmt.Println("lost", time.Since(at).Milliseconds())
				continue
			}
			unlock = held[name]
		}
		switch {
		case errors.Is(err, errRefused):
			fmt.Println("refused")
		case err != nil:
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		default:
			held[name] = unlock
			fmt.Println("ok")
		}
	}
	return nil
}

// library is a client library that a peer process uses.
type library struct {
	name    string
	nodes   int           // servers; 3 for Redlock
	prefix  string        // of the key, before the name
	poll    time.Duration // the longest pause between two tries of a waiter
	command []string      // nil: the test binary
	stalls  bool          // waiters stall one another for whole TTLs, so a crowd counts a tenth
}

// remote is a peer process.
type remote struct {
	*selfexec.Child
	t   testing.TB
	lib library
	out chan string // closed at the end of the process
}

// newRemote starts a peer process. It has ended when the test ends.
func newRemote(t testing.TB, lib library, servers []*redistest.Server, ttl time.Duration) *remote {
	t.Helper()
	p, err := startRemote(t, lib, servers, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startRemote is newRemote for any goroutine.
func startRemote(t testing.TB, lib library, servers []*redistest.Server, ttl time.Duration) (*remote, error) {
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	args := []string{lib.name, strings.Join(addrs, ","), fmt.Sprint(ttl.Milliseconds())}
	p := &remote{t: t, lib: lib, out: make(chan string, 100)}
	cmd := selfexec.Command([]string{peerEnv + "=" + strings.Join(args, " ")})
	if lib.command != nil {
		cmd = exec.Command(lib.command[0], append(lib.command[1:len(lib.command):len(lib.command)], args...)...)
	}
	var err error
	if p.Child, err = selfexec.Start(cmd, func(line string) { p.out <- line }); err != nil {
		return nil, fmt.Errorf("%s: %w; make interop-deps installs the libraries", lib.name, err)
	}
	t.Cleanup(p.Kill)
	go func() {
		<-p.Gone
		close(p.out)
	}()
	if got := p.answer(); got != "ready" {
		return nil, fmt.Errorf("%s says %q; make interop-deps installs the libraries", lib.name, got)
	}
	return p, nil
}

// send sends a command. answer returns its answer.
func (p *remote) send(verb, name string) { _ = p.Tell(verb + " " + name) } // after the end, answer says so

func (p *remote) answer() string {
	select {
	case text, ok := <-p.out:
		if !ok {
			return "ended"
		}
		return text
	case <-time.After(4 * within):
		return "no answer"
	}
}

// must sends a command that has to have this answer.
func (p *remote) must(want, verb, name string) {
	p.t.Helper()
	p.send(verb, name)
	if got := p.answer(); got != want {
		p.t.Fatalf("%s: %s %s: %q, want %q", p.lib.name, verb, name, got, want)
	}
}
