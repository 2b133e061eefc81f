package nodemodel

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

const (
	W     = int64(250_000)
	hour  = int64(3_600_000_000)
	start = int64(1_790_000_000_123_456) // the time of both clocks at the start
)

// configs are the configurations of the clients in a world: the node set's own, a durable one, and a stranger's.
var configs = []nodescript.Config{
	{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "it's"},
	{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "it's", Durable: true},
	{N: 5, MaxTTL: 4 * time.Second, Window: 250 * time.Millisecond, Cluster: "other"},
}

// world is a real server and the model, under one frozen clock.
type world struct {
	t      testing.TB
	server *redistest.Server
	wire   *wire
	model  *Node
	inbox  *wire             // listens on the server
	stops  map[string]func() // the channels to which both listen; the function ends it on the model
	heard  []string          // messages that the model's listeners heard since the last comparison
	from   string            // the owner before the last call
	now    int64
	names  string          // the name in a voucher or a late request
	named  []string        // the epoch under which Sentinel names the server, and whether that is firm; nil: the client has no Sentinel
	given  map[string]bool // challenges
	data   bool            // the server keeps its data over a restart
	values bool            // half of the operations load or store a value
	texts  map[made]*nodescript.Scripts
	weaken func(text string) string // changes the real server's scripts
	seen   map[string]int           // how often each answer was given, such as "acquire Hc"
}

func newWorld(t testing.TB, opts ...redistest.Option) *world {
	server := redistest.Start(t, append(opts, redistest.WithClock(), redistest.Args("--enable-debug-command", "yes"))...)
	w := &world{t: t, server: server, texts: map[made]*nodescript.Scripts{}, weaken: func(s string) string { return s }, seen: map[string]int{}}
	w.dial()
	w.reset()
	return w
}

// dial connects to the server after its start. From then on the server deletes an expired key only when somebody asks
// for it. Redis 8 deletes other keys in the millisecond in which they expire, at random. Until that millisecond has
// passed, a request still finds such a key, as on Redis 7.
func (w *world) dial() {
	w.wire, w.inbox = dial(w.t, w.server), dial(w.t, w.server)
	w.wire.must("DEBUG", "SET-ACTIVE-EXPIRE", "0")
}

// reset empties both sides.
func (w *world) reset() {
	w.now, w.names, w.given, w.named = start, "", map[string]bool{}, nil
	for channel := range w.stops {
		w.inbox.must("UNSUBSCRIBE", channel)
	}
	w.stops, w.heard = map[string]func(){}, nil
	w.server.SetClock(w.now)
	for _, c := range [][]string{
		{"CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction"},
		{"FLUSHALL"}, {"SCRIPT", "FLUSH"}, {"CONFIG", "RESETSTAT"},
	} {
		w.wire.must(c...)
	}
	w.model = New("model", func() int64 { return w.now }, w.info(), configs...)
}

func (w *world) info() Info {
	f := w.wire.info()
	number := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }
	return Info{
		Run: f["run_id"], Role: f["role"], Cluster: f["cluster_enabled"] == "1", MaxMemory: number(f["maxmemory"]),
		Policy: f["maxmemory_policy"], Evicted: number(f["evicted_keys"]), ReplID: f["master_replid"], ReplID2: f["master_replid2"],
		Followed: number(f["total_net_repl_input_bytes"]) > 0, Ran: w.counted("evalsha", "config|set", "config|resetstat", "flushall"),
		AOF: f["aof_enabled"] == "1", Version: version(f), Booted: number(f["server_time_usec"])/1_000_000 - number(f["uptime_in_seconds"]),
	}
}

// counted reports whether the server has counted one of these commands since its start.
func (w *world) counted(commands ...string) bool {
	counts := w.wire.must("INFO", "commandstats").(string)
	return slices.ContainsFunc(commands, func(c string) bool { return strings.Contains(counts, "\ncmdstat_"+c+":") })
}

func (w *world) scripts(config int) *nodescript.Scripts {
	key := made{configs[config], w.model.Info.Run}
	if w.texts[key] == nil {
		w.texts[key] = nodescript.NewScripts(key.config, key.run)
	}
	return w.texts[key]
}

// listen subscribes to a channel on both sides, or ends the subscription.
func (w *world) listen(channel string, on bool) {
	stop, is := w.stops[channel]
	switch {
	case on && !is:
		w.inbox.must("SUBSCRIBE", channel)
		w.stops[channel] = w.model.Subscribe(channel, func(m string) { w.heard = append(w.heard, channel+" "+m) })
	case !on && is:
		w.inbox.must("UNSUBSCRIBE", channel)
		stop()
		delete(w.stops, channel)
	}
}

// news returns the messages that both sides heard since the last time.
func (w *world) news() (real, model []string) {
	model, w.heard = w.heard, nil
	if len(w.stops) == 0 {
		return nil, model
	}
	w.inbox.send("PING") // its reply comes after all earlier messages
	w.inbox.flush()
	for {
		m := w.inbox.reply().([]any)
		if m[0] == "pong" {
			return real, model
		}
		real = append(real, m[1].(string)+" "+m[2].(string))
	}
}

// said returns a reply in the form that is compared: of an error only the code.
func said(r node.Reply) string {
	if r.Err != nil {
		return "(" + node.Code(r.Err) + ")"
	}
	return r.Value
}

func told(v any) string {
	if err, bad := v.(error); bad {
		return said(node.Reply{Err: err})
	}
	return fmt.Sprint(v)
}

// call runs a loaded script on both sides.
func (w *world) call(config int, c nodescript.Call) (real, model string) {
	s := w.scripts(config)
	if len(c.Keys) > 0 {
		r, _ := w.model.record(c.Keys[0])
		w.from = r.Owner
	}
	r, m := w.evalSHA(s, c)
	real, model = told(r), said(m)
	letters := 1
	if model[0] == 'H' || model[0] == 'G' || model[0] == 'V' || model[0] == 'L' || model[0] == 'F' {
		letters = 2
	}
	w.count(c.Op.String(), model, letters)
	if c.Op.Exclusive() == nodescript.Extend && (model[0] == 'E' || model[0] == 'R') && len(model) > 1 {
		w.seen[c.Op.String()+" "+model[:1]+" late"]++
	}
	for range w.heard {
		w.seen[c.Op.String()+" hands on"]++
	}
	if c.Op.Exclusive() == nodescript.Acquire && model[0] == 'H' && model[2+16:2+16+6] != noRank {
		w.seen[c.Op.String()+" joins"]++
	}
	if c.Op.Exclusive() == nodescript.Acquire && model[0] == 'G' && len(c.Args[2]) != 16 && c.Args[2] != "" && w.from == c.Args[2] {
		w.seen[c.Op.String()+" passes"]++
	}
	return real, model
}

func (w *world) evalSHA(s *nodescript.Scripts, c nodescript.Call) (real any, model node.Reply) {
	sum := sha1.Sum([]byte(w.weaken(s.Load()[c.Op])))
	args := append([]string{"EVALSHA", hex.EncodeToString(sum[:]), strconv.Itoa(len(c.Keys))}, c.Keys...)
	real = w.wire.do(append(args, c.Args...)...)
	return real, w.whole(func() node.Reply {
		return w.model.EvalSHA(context.Background(), []node.Call{{SHA: s.SHA(c.Op), Keys: c.Keys, Args: c.Args}})[0]
	})
}

// together runs several calls of a loaded script as one, on both sides. Of an error only the code is compared.
func (w *world) together(config int, t *nodescript.Together) (real, model string) {
	r, m := w.evalSHA(w.scripts(config), nodescript.Call{Op: t.Op, Keys: t.Keys, Args: t.Args})
	reply := node.Reply{}
	if reply.Value, _ = r.(string); reply.Value == "" {
		reply.Err, _ = r.(error)
	}
	w.count("together", said(m), 0)
	return w.parts(t, reply), w.parts(t, m)
}

func (w *world) parts(t *nodescript.Together, r node.Reply) string {
	all := make([]string, t.N)
	t.ParseReplies(r, func(i int, a nodescript.Answer) {
		code := ""
		if a.Err != nil {
			if code = node.Code(a.Err); code == "" {
				code = a.Err.Error()
			}
			w.seen["together ("+code+")"]++
			a.Err = nil
		}
		all[i] = fmt.Sprintf("%+v %s", a, code)
	})
	return strings.Join(all, "\n")
}

// admit asks both sides to vote, and asks again if they answer a challenge.
func (w *world) admit(config int, stamp int64) (real, model string) {
	real, model = w.ask(config, stamp, "")
	if real == model && real[0] == 'C' {
		return w.ask(config, stamp, real[17:])
	}
	return real, model
}

// challenge returns the challenge that both sides would answer.
func (w *world) challenge() string {
	a, _ := w.model.remembered()
	return a.challenge
}

// ask asks both sides to vote, and loads the scripts as a driver does. If the server's challenge is new, the model
// adopts it: time is frozen, and all requests have the same nonce.
func (w *world) ask(config int, stamp int64, challenge string) (real, model string) {
	c := nodescript.AdmitCall(stamp, configs[config].Window, challenge, "nonce", false)
	c.Args = append(c.Args, w.named...)
	return w.askFor(w.scripts(config), c)
}

// askFor does the same for scripts that may belong to an ended incarnation.
func (w *world) askFor(s *nodescript.Scripts, c node.Call) (real, model string) {
	w.wire.send(append([]string{"EVAL", w.weaken(s.Admit), "0"}, c.Args...)...)
	w.wire.flush()
	answer := w.wire.reply()
	real = told(answer)
	if _, refused := answer.(error); !refused {
		w.load(s)
	}
	made, _ := w.wire.do("HGET", nodescript.AdmissionKey, "challenge").(string)
	w.model.Challenge = func() string {
		if w.given[made] {
			return "was given before"
		}
		w.given[made] = true
		return made
	}
	model = said(w.whole(func() node.Reply { return w.model.Eval(context.Background(), s.Admit, c, s.Load()...) }))
	if model[0] == 'Q' {
		w.count("admit", "Q "+model[73:], len(model))
	} else {
		w.count("admit", model, 1)
	}
	return real, model
}

// load loads scripts on the real server.
func (w *world) load(s *nodescript.Scripts) {
	for _, text := range s.Load() {
		w.wire.send("SCRIPT", "LOAD", w.weaken(text))
	}
	w.wire.flush()
	for range s.Load() {
		if err, bad := w.wire.reply().(error); bad {
			w.t.Errorf("a script was not loaded: %v", err)
		}
	}
}

// trust stores a voucher on both sides.
func (w *world) trust(config int, names string) (real, model string) {
	c := nodescript.TrustCall(configs[config], names)
	real = told(w.wire.do(append([]string{"EVAL", w.weaken(nodescript.TrustText()), "0"}, c.Args...)...))
	model = said(w.whole(func() node.Reply { return w.model.Eval(context.Background(), nodescript.TrustText(), c) }))
	w.count("trust", model, 1)
	return real, model
}

func (w *world) count(op, answer string, letters int) {
	if answer[0] == '(' {
		letters = len(answer)
	}
	w.seen[op+" "+answer[:min(letters, len(answer))]]++
}

// eval runs hello, inspect or peers on both sides.
func (w *world) eval(text string, c node.Call) (real, model string) {
	args := append([]string{"EVAL", w.weaken(text), strconv.Itoa(len(c.Keys))}, c.Keys...)
	args = append(args, c.Args...)
	return told(w.wire.do(args...)), said(w.whole(func() node.Reply { return w.model.Eval(context.Background(), text, c) }))
}

// at sets both clocks and deletes expired keys on both sides. They are deleted even if the clock is set back at once:
// Redis deletes them in the background at any time.
func (w *world) at(us int64) {
	w.now = us
	w.server.SetClock(us)
	w.wire.must(append([]string{"EXISTS"}, universe...)...)
	w.model.Keys()
}

func (w *world) restart() {
	w.server.Restart()
	w.dial()
	w.stops = map[string]func(){}
	i := w.info()
	w.model.Restart(i.Run, i.ReplID, w.data)
	w.model.Info = i
	w.model.Full = false
	w.at(w.now)
}

const dumpText = `
local out = {}
for i, k in ipairs(redis.call('KEYS', '*')) do
  local kind, v = redis.call('TYPE', k).ok
  if kind == 'string' then v = redis.call('GET', k)
  elseif kind == 'zset' then v = redis.call('ZRANGE', k, 0, -1, 'WITHSCORES')
  else v = redis.call('HGETALL', k) end
  out[i] = {k, v, redis.call('PEXPIRETIME', k), kind}
end
return out`

// keys returns every key of the real server, sorted.
func (w *world) keys() []Key {
	list := w.wire.must("EVAL", dumpText, "0").([]any)
	keys := make([]Key, 0, len(list))
	for _, e := range list {
		e := e.([]any)
		k := Key{Name: e[0].(string), Expires: e[2].(int64)}
		switch v := e[1].(type) {
		case string:
			k.Text = v
		case []any:
			if e[3] == "zset" {
				for _, s := range v {
					k.Waiting = append(k.Waiting, s.(string))
				}
				break
			}
			fields := map[string]string{}
			for i := 0; i < len(v); i += 2 {
				fields[v[i].(string)] = v[i+1].(string)
			}
			for _, f := range slices.Sorted(maps.Keys(fields)) {
				k.Fields = append(k.Fields, f, fields[f])
			}
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return keys
}

func (k Key) same(o Key) bool {
	return k.Name == o.Name && k.Text == o.Text && k.Expires == o.Expires &&
		slices.Equal(k.Fields, o.Fields) && slices.Equal(k.Waiting, o.Waiting)
}

// differ returns how the two sides differ, or "".
func (w *world) differ(real, model string) string {
	here, there := w.news()
	if real != model {
		return fmt.Sprintf("reply\n  redis  %q\n  model  %q", real, model)
	}
	if !slices.Equal(here, there) {
		return fmt.Sprintf("news\n  redis  %q\n  model  %q", here, there)
	}
	a, b := w.keys(), w.model.Keys()
	if slices.EqualFunc(a, b, Key.same) {
		return ""
	}
	text := "keys"
	for _, side := range []struct {
		who        string
		mine, them []Key
	}{{"redis", a, b}, {"model", b, a}} {
		for _, k := range side.mine {
			if !slices.ContainsFunc(side.them, k.same) {
				text += fmt.Sprintf("\n  %s  %q = %q %q %q until %d ms", side.who, k.Name, k.Text, k.Fields, k.Waiting, k.Expires)
			}
		}
	}
	return text
}
