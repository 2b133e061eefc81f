package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestServersAnswerAndAreSeparate(t *testing.T) {
	t.Parallel()
	servers := StartN(t, 3)
	for i, s := range servers {
		s.MustDo(t, "SET", "k", i)
	}
	for i, s := range servers {
		if got := s.MustDo(t, "GET", "k"); got != fmt.Sprint(i) {
			t.Errorf("server %d answers %v", i, got)
		}
	}
	if got := servers[0].MustDo(t, "GET", "absent"); got != nil {
		t.Errorf("an absent key is %v, want nil", got)
	}
}

func TestRestartForgetsUnlessDurable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts []Option
		want any
	}{
		"volatile": {nil, nil},
		"durable":  {[]Option{Durable()}, "v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Start(t, c.opts...)
			addr := s.Addr()
			s.MustDo(t, "SET", "k", "v")
			s.Kill()
			if _, err := s.Do("PING"); err == nil {
				t.Error("a killed server answers")
			}
			s.Restart()
			if got := s.MustDo(t, "GET", "k"); got != c.want {
				t.Errorf("after restart: %v, want %v", got, c.want)
			}
			if s.Addr() != addr {
				t.Errorf("moved from %s to %s", addr, s.Addr())
			}
		})
	}
}

func TestFrozenServerAnswersAfterThaw(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Freeze()
	answer := make(chan error, 1)
	go func() { _, err := s.Do("PING"); answer <- err }()
	select {
	case err := <-answer:
		t.Fatalf("a frozen server answered: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.Thaw()
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
}

func TestPasswordSocketAndTLS(t *testing.T) {
	t.Parallel()
	s := Start(t, Password("secret"), UnixSocket(), TLS())
	s.MustDo(t, "PING")
	path := strings.TrimPrefix(s.SocketURL(), "unix://")
	for name, c := range map[string]*client{
		"tcp":  {network: "tcp", addr: s.Addr()},
		"unix": {network: "unix", addr: path},
		"tls":  {network: "tcp", addr: strings.TrimPrefix(s.TLSURL(), "rediss://"), tls: s.TLSConfig()},
	} {
		for password, accepted := range map[string]bool{"secret": true, "": false} {
			c.password = password
			_, err := c.do(t.Context(), "PING")
			if (err == nil) != accepted {
				t.Errorf("%s with password %q: %v", name, password, err)
			}
		}
	}
}

// If the test binary is killed, its servers die too. The test runs itself as a child, which starts a server and waits
// to be killed.
func TestServersDieWithTheTestBinary(t *testing.T) {
	if os.Getenv("REDISTEST_ORPHAN") != "" {
		fmt.Println("addr", Start(t).Addr())
		select {}
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "REDISTEST_ORPHAN=1", "TMPDIR="+t.TempDir()) // the child cannot clean up
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	if _, err := fmt.Fscanf(out, "addr %s\n", &addr); err != nil {
		t.Fatal(err)
	}
	c := &client{network: "tcp", addr: addr}
	if _, err := c.do(t.Context(), "PING"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	Eventually(t, patience, "the server is gone", func() bool { return c.text(t.Context(), "PING") == "" })
}
