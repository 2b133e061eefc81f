package doctor

import (
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
