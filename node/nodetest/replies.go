package nodetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

func (s suite) emptyBatchHasNoReplies(t *testing.T) {
	_, n := s.start(t)
	batch(t, within(t, patience), n)
}

func (s suite) repliesStandInTheOrderOfCalls(t *testing.T) {
	_, n := s.start(t)
	load(t, n, echo)
	var calls []node.Call
	for i := range 3000 {
		calls = append(calls, call(echo, fmt.Sprint(i)))
	}
	for i, r := range batch(t, within(t, patience), n, calls...) {
		if r.Err != nil || r.Value != fmt.Sprint(i) {
			t.Fatalf("reply %d is %q, %v", i, r.Value, r.Err)
		}
	}
}

func (s suite) repliesBecomeText(t *testing.T) {
	_, n := s.start(t)
	for script, want := range map[string]string{
		`return 'text'`:                     "text",
		`return ''`:                         "",
		`return -7`:                         "-7",
		`return 9007199254740991`:           "9007199254740991",
		`return false`:                      "",
		`return redis.status_reply('FINE')`: "FINE",
	} {
		if r := n.Eval(within(t, patience), script, node.Call{}); r.Err != nil || r.Value != want {
			t.Errorf("%s: %q, %v; want %q", script, r.Value, r.Err, want)
		}
		// An Eval that also loads other scripts uses other code in the driver.
		if r := n.Eval(within(t, patience), script, node.Call{}, echo); r.Err != nil || r.Value != want {
			t.Errorf("%s with a load: %q, %v; want %q", script, r.Value, r.Err, want)
		}
	}
	for script, code := range map[string]string{
		`return {'a', 'b'}`: "",
		`return {}`:         "",
		`return redis.error_reply('MINE is bad')`: "MINE",
		`return redis.error_reply('ERR plain')`:   node.Generic,
	} {
		for _, loads := range [][]string{nil, {echo}} {
			r := n.Eval(within(t, patience), script, node.Call{}, loads...)
			if r.Err == nil {
				t.Errorf("%s: %q, want an error", script, r.Value)
			}
			wantCode(t, script, r.Err, code)
		}
	}
	r := n.Eval(within(t, patience), `return redis.error_reply('ERR plain')`, node.Call{})
	if r.Err == nil || !strings.HasPrefix(r.Err.Error(), "ERR plain") {
		t.Errorf("message %v, want the server's whole text", r.Err)
	}
}

func (s suite) keysAndArgsAreAnyBytes(t *testing.T) {
	server, n := s.start(t)
	const both = `redis.call('SET', KEYS[1], ARGV[1]); return redis.call('GET', KEYS[1])`
	load(t, n, both)
	for _, text := range []string{"", "\x00", "a\r\nb", "\r\n$3\r\nfoo\r\n", "schlüssel 🔒", "\xff\xfe", strings.Repeat("x\x00", 32<<10)} {
		r := one(t, n, node.Call{SHA: sha(both), Keys: []string{"k" + text}, Args: []string{text}})
		if r.Err != nil || r.Value != text {
			t.Errorf("%.20q came back as %.20q, %v", text, r.Value, r.Err)
		}
		if got := server.MustDo(t, "GET", "k"+text); got != text {
			t.Errorf("%.20q is stored as %.20q", text, got)
		}
	}
	none := n.Eval(within(t, patience), `return #KEYS .. ' ' .. #ARGV`, node.Call{})
	if none.Err != nil || none.Value != "0 0" {
		t.Errorf("without keys and arguments: %q, %v", none.Value, none.Err)
	}
}

func (s suite) evalLoadsOthers(t *testing.T) {
	_, n := s.start(t)
	r := n.Eval(within(t, patience), `return KEYS[1] .. ARGV[1]`, node.Call{SHA: "ignored", Keys: []string{"key"}, Args: []string{"arg"}}, echo, count)
	if r.Err != nil || r.Value != "keyarg" {
		t.Fatalf("%q, %v", r.Value, r.Err)
	}
	for i, r := range batch(t, within(t, patience), n, call(echo, "1"), call(count)) {
		if r.Err != nil || r.Value != "1" {
			t.Errorf("loaded script %d: %q, %v", i, r.Value, r.Err)
		}
	}
	// The loads work, but the reply must still have the error of the script.
	r = n.Eval(within(t, patience), `return redis.error_reply('MINE is bad')`, node.Call{}, echo)
	wantCode(t, "failing script", r.Err, "MINE")
}

// evalLoadsWhereMemoryIsFull checks that Eval uses no transaction. A server whose memory is full refuses every
// command of a transaction, even a command that needs no memory.
func (s suite) evalLoadsWhereMemoryIsFull(t *testing.T) {
	server, n := s.start(t)
	server.MustDo(t, "CONFIG", "SET", "maxmemory", "1")
	const kept = `redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], '1') return 'kept'`
	if r := n.Eval(within(t, patience), kept, node.Call{Keys: []string{"x"}}, echo); r.Err != nil || r.Value != "kept" {
		t.Errorf("%q, %v", r.Value, r.Err)
	}
	if r := one(t, n, call(echo, "in")); r.Err != nil || r.Value != "in" {
		t.Errorf("the loaded script: %q, %v", r.Value, r.Err)
	}
}

func (s suite) evalNamesTheBadLoad(t *testing.T) {
	_, n := s.start(t)
	r := n.Eval(within(t, patience), echo, node.Call{Args: []string{"x"}}, count, `return (`, count)
	var refused *node.Error
	if !errors.As(r.Err, &refused) || !strings.Contains(r.Err.Error(), "script load 2") {
		t.Errorf("a load that does not compile: %q, %v", r.Value, r.Err)
	}
	if r := n.Eval(within(t, patience), `return (`, node.Call{}, count); !errors.As(r.Err, &refused) {
		t.Errorf("a script that does not compile: %q, %v", r.Value, r.Err)
	}
}

func (s suite) concurrentCallsGetTheirOwnReplies(t *testing.T) {
	server, n := s.start(t)
	load(t, n, echo, count)
	var wg sync.WaitGroup
	const callers, rounds = 64, 20
	for i := range callers {
		wg.Go(func() {
			for j := range rounds {
				want := fmt.Sprintf("%d/%d", i, j)
				r := n.EvalSHA(t.Context(), []node.Call{call(count), call(echo, want)})
				if r[0].Err != nil || r[1].Err != nil || r[1].Value != want {
					t.Errorf("%s: %v", want, r)
				}
				if r := n.Eval(t.Context(), echo, node.Call{Args: []string{want}}, echo); r.Value != want {
					t.Errorf("%s with a load: %v", want, r)
				}
			}
		})
	}
	wg.Wait()
	if got := server.MustDo(t, "GET", "k"); got != fmt.Sprint(callers*rounds) {
		t.Errorf("counted %v, want %d", got, callers*rounds)
	}
}

func (s suite) socketAndDatabase(t *testing.T) {
	server := redistest.Start(t, redistest.UnixSocket())
	const set, get = `return redis.call('SET', KEYS[1], ARGV[1])`, `return redis.call('GET', KEYS[1])`
	for url, key := range map[string]string{
		server.URL() + "/3":          "tcp",
		server.SocketURL() + "?db=3": "unix",
		server.URL():                 "default",
		server.SocketURL():           "default unix",
		server.URL() + "/0":          "zero",
		server.SocketURL() + "?db=0": "zero unix",
	} {
		db := "0"
		if strings.Contains(url, "3") && (strings.HasSuffix(url, "/3") || strings.HasSuffix(url, "=3")) {
			db = "3"
		}
		n := s.node(t, url)
		load(t, n, set, get)
		if r := one(t, n, node.Call{SHA: sha(set), Keys: []string{key}, Args: []string{key}}); r.Err != nil {
			t.Errorf("%s: %v", key, r.Err)
		}
		if r := one(t, n, node.Call{SHA: sha(get), Keys: []string{key}}); r.Value != key {
			t.Errorf("%s: %q, %v", key, r.Value, r.Err)
		}
		in := server.MustDo(t, "EVAL", "redis.call('SELECT', ARGV[1]); return redis.call('GET', KEYS[1])", 1, key, db)
		if in != key {
			t.Errorf("%s is not in database %s", key, db)
		}
	}
}

func (s suite) addrHasNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"redis://10.0.0.7":                     "redis://10.0.0.7:6379/0",
		"redis://u:secret@10.0.0.7:7000/2":     "redis://10.0.0.7:7000/2",
		"redis://:secret@Redis-1.Example:6379": "redis://redis-1.example:6379/0",
		"redis://[0:0::1]:6379/1":              "redis://[::1]:6379/1",
		"unix:///run/redis.sock":               "unix:///run/redis.sock?db=0",
		"unix://u:secret@/run/redis.sock?db=4": "unix:///run/redis.sock?db=4",
	} {
		if got := s.node(t, url).Addr(); got != want {
			t.Errorf("Addr of %s is %s, want %s", url, got, want)
		}
	}
}

func (s suite) settingsAreTold(t *testing.T) {
	server, n := s.start(t)
	c, ok := n.(node.Configured)
	if !ok {
		return
	}
	server.MustDo(t, "CONFIG", "SET", "appendfsync", "everysec")
	for name, want := range map[string]string{"appendfsync": "everysec", "no-appendfsync-on-rewrite": "no", "no-such-setting": ""} {
		if r := c.Setting(t.Context(), name); r.Err != nil || r.Value != want {
			t.Errorf("%s is %q, %v; want %q", name, r.Value, r.Err, want)
		}
	}
	server.MustDo(t, "ACL", "SETUSER", "default", "-config")
	if r := c.Setting(t.Context(), "appendfsync"); node.Code(r.Err) != node.NoPerm {
		t.Errorf("a user who may not ask got %q, %v", r.Value, r.Err)
	}
}

// anyCommand checks the method Do of a driver that has one.
func (s suite) anyCommand(t *testing.T) {
	server, n := s.start(t)
	c, ok := n.(node.Commander)
	if !ok {
		t.Log("the driver sends no commands")
		return
	}
	const binary = "\x00\xff\r\n"
	ctx := within(t, patience)
	for _, do := range []struct {
		command []string
		want    string
	}{
		{[]string{"PING"}, "PONG"},
		{[]string{"SET", "k", binary}, "OK"},
		{[]string{"EVAL_RO", "return redis.call('GET', KEYS[1])", "1", "k"}, binary},
		{[]string{"EVAL_RO", "return ARGV[1]", "0", ""}, ""},
		{[]string{"EXISTS", "k"}, "1"},
		{[]string{"GET", "none"}, ""},
		{[]string{"ACL", "WHOAMI"}, "default"},
	} {
		if r := c.Do(ctx, do.command...); r.Err != nil || r.Value != do.want {
			t.Errorf("%q: %q, %v; want %q", do.command, r.Value, r.Err, do.want)
		}
	}
	wantCode(t, "a write of EVAL_RO", c.Do(ctx, "EVAL_RO", "return redis.call('DEL', KEYS[1])", "1", "k").Err, node.Generic)
	wantCode(t, "no command", c.Do(ctx, "NOSUCHCOMMAND").Err, node.Generic)
	if r := c.Do(ctx, "COMMAND", "LIST"); r.Err == nil {
		t.Errorf("a list as a reply: %q, want an error", r.Value)
	}
	server.Freeze()
	defer server.Thaw()
	if r := c.Do(within(t, short), "PING"); !node.Timeout(r.Err) {
		t.Errorf("a frozen server: %q, %v; want a timeout", r.Value, r.Err)
	}
	n.Close()
	if r := c.Do(within(t, patience), "PING"); !errors.Is(r.Err, node.ErrClosed) {
		t.Errorf("a closed node: %q, %v", r.Value, r.Err)
	}
}
