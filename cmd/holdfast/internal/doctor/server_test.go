package doctor

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A setting must outlive the server's next start. CONFIG REWRITE fails on a server without a configuration file.
func TestASettingIsChangedForGood(t *testing.T) {
	n, err := rueidisnode.New("redis://127.0.0.1:1") // nobody calls it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	for file, want := range map[string]string{
		"/etc/redis.conf": "redis-cli -u redis://127.0.0.1:1 CONFIG SET a b && redis-cli -u redis://127.0.0.1:1 CONFIG REWRITE",
		"":                "redis-cli -u redis://127.0.0.1:1 CONFIG SET a b; the server has no configuration file: also give it this setting where you start it",
	} {
		p := &patient{node: n, info: map[string]string{"config_file": file}}
		if got := p.set("a b"); got != want {
			t.Errorf("with the file %q: %s", file, got)
		}
	}
}

// redis-cli reads no URL of a socket.
func TestTheFixForASocketNamesItsPath(t *testing.T) {
	for url, want := range map[string]string{
		"unix:///run/redis.sock?db=2":       "redis-cli -s /run/redis.sock PING",
		"unix:///run/my%20redis.sock":       "redis-cli -s '/run/my redis.sock' PING",
		"rediss://user:pw@127.0.0.1:6380/2": "redis-cli -u rediss://127.0.0.1:6380 --user user --askpass PING",
		"redis://default:pw@127.0.0.1":      "redis-cli -u redis://127.0.0.1:6379 --user default --askpass PING",
		"redis://:pw@127.0.0.1":             "redis-cli -u redis://127.0.0.1:6379 --askpass PING",
	} {
		n, err := rueidisnode.New(url) // nobody calls it
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		if got := (&patient{node: n, url: url}).redis("PING"); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		if got, want := (&patient{node: n, url: url}).redis("X"), strings.ReplaceAll(strings.ReplaceAll(want, "PING", "X"), " user ", " ADMIN "); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// Slow commands leave the log. The other findings of the check latency last, and the advice names them.
func TestTheAdviceNamesTheFindingsThatARestartEnds(t *testing.T) {
	if got := untilRestart(nil); got != "" {
		t.Errorf("without such a finding: %q", got)
	}
	got := untilRestart([]string{"the last fork took 40ms", "3 writes waited for the disk (aof_delayed_fsync)"})
	const want = "; until the server restarts, doctor shows: the last fork took 40ms, 3 writes waited for the disk (aof_delayed_fsync). CONFIG RESETSTAT "
	if !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
