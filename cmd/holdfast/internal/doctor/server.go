package doctor

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// patient is one server that is examined.
type patient struct {
	*exam
	node   node.Node
	url    string
	server *server // of a Redis Cluster; nil without a cluster

	coverage, least string // its cluster-require-full-coverage and min-replicas-to-write; "" if not known

	info     map[string]string
	readings [2]reading // two readings of the clock, some time apart
}

// reading is one reading of a server's clock.
type reading struct {
	at    time.Time // the local time in the middle of the round trip
	clock time.Time
	took  time.Duration
}

// between is the time between two readings of a clock. The two readings show how fast the clock runs.
const between = time.Second

func (p *patient) find(check string, s Severity, state, fix string) {
	p.exam.find(check, p.node.Addr(), s, state, fix)
}

// redis returns the command line that runs a command on this server.
func (p *patient) redis(command string) string {
	if u, err := url.Parse(p.url); err == nil && u.Scheme == "unix" {
		return "redis-cli -s " + shell(u.Path) + p.credentials(command) + " " + command
	}
	where := p.node.Addr()
	if strings.Contains(where, "+sentinel://") {
		where = "redis://THE-MASTER" // Sentinel knows it: SENTINEL GET-MASTER-ADDR-BY-NAME
	}
	if scheme, hosts, is := strings.Cut(where, "+cluster://"); is {
		first, _, _ := strings.Cut(hosts, ",")
		where = scheme + "://" + first + "/"
	}
	if at := strings.LastIndex(where, "/"); strings.HasPrefix(where, "redis") && at > len("rediss://") {
		where = where[:at]
	}
	return "redis-cli -u " + shell(where) + p.credentials(command) + " " + command
}

// credentials returns the flags with which redis-cli uses the certificates of the URL and a user. redis-cli asks for the
// password. The user of a client has no right to the commands of fixes, except PING: another one has.
func (p *patient) credentials(command string) (flags string) {
	u, err := parseURL(p.url)
	if err != nil {
		return ""
	}
	query, _ := url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B")) // a + stands for itself: see rueidisnode
	for _, name := range []string{"cacert", "cert", "key"} {
		if file := query.Get(name); file != "" {
			flags += " --" + name + " " + shell(file)
		}
	}
	if user := u.User.Username(); user != "" {
		if command != "PING" && user != "default" {
			user = "ADMIN"
		}
		flags += " --user " + shell(user)
	}
	if _, has := u.User.Password(); has {
		flags += " --askpass"
	}
	return flags
}

func (p *patient) examine(ctx context.Context) {
	p.encrypted()
	if err := p.greet(ctx); err != nil {
		p.unanswered(ctx, err)
		return
	}
	p.find("answer", OK, "answers", "")
	if p.server == nil {
		p.address(ctx)
	} else {
		p.find("address", OK, "is where the cluster says", "")
		p.view(ctx)
	}
	p.version()
	p.persistence(ctx)
	p.memory()
	p.latency(ctx)
	p.rights(ctx)
	p.wait(ctx)
}

// set returns the commands that change a setting of this server for good.
func (p *patient) set(settings ...string) string {
	var commands []string
	for _, s := range settings {
		commands = append(commands, "CONFIG SET "+s)
	}
	return p.lasting("also give it this setting where you start it", commands...)
}

// lasting returns the command lines of these commands, and of the command that writes their effect into the
// configuration file. If the server has no such file, it returns the advice instead.
func (p *patient) lasting(advice string, commands ...string) string {
	var lines []string
	for _, c := range commands {
		lines = append(lines, p.redis(c))
	}
	if file, known := p.info["config_file"]; known && file == "" {
		return strings.Join(lines, " && ") + "; the server has no configuration file: " + advice
	}
	return strings.Join(append(lines, p.redis("CONFIG REWRITE")), " && ")
}

// silent announces the quarantine that a fix causes.
func (e *exam) silent() string {
	return fmt.Sprintf("a quarantine follows: this node then does not vote for %s", e.MaxTTL+e.Window)
}

const timeScript = `local t = redis.call('TIME') return t[1] .. string.sub('00000' .. t[2], -6)`

// greet reads INFO and the clock, and measures the round trip.
func (p *patient) greet(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := p.node.Eval(bounded, "return redis.call('INFO')", node.Call{})
	if r.Err != nil {
		return r.Err
	}
	p.info = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([^#:\r\n]+):([^\r\n]*)`).FindAllStringSubmatch(r.Value, -1) {
		p.info[m[1]] = m[2]
	}
	var err error
	p.readings[0], err = p.read(bounded)
	return err
}

// read reads the clock several times, and returns the reading with the shortest round trip.
func (p *patient) read(ctx context.Context) (best reading, err error) {
	for i := range 7 {
		began := time.Now()
		r := p.node.Eval(ctx, timeScript, node.Call{})
		took := time.Since(began)
		if r.Err != nil {
			return best, r.Err
		}
		us, err := strconv.ParseInt(r.Value, 10, 64)
		if err != nil {
			return best, fmt.Errorf("unreadable time %q", r.Value)
		}
		if i == 0 || took < best.took {
			best = reading{began.Add(took / 2), time.UnixMicro(us), took}
		}
	}
	return best, nil
}

// wait reads the clock a second time.
func (p *patient) wait(ctx context.Context) {
	if !p.wants("drift") {
		return
	}
	select {
	case <-time.After(between):
	case <-ctx.Done():
		return
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r, err := p.read(bounded); err == nil {
		p.readings[1] = r
	}
}

func (p *patient) number(field string) int64 {
	n, _ := strconv.ParseInt(p.info[field], 10, 64)
	return n
}

func (p *patient) version() {
	if v := p.info["valkey_version"]; v != "" {
		p.find("version", OK, "Valkey "+v, "")
		return
	}
	v := p.info["redis_version"]
	major, _, _ := strings.Cut(v, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		p.find("version", Bad, "Redis "+v+" keeps scripts over a restart, so restarts are not noticed", "install Redis 7.0 or later, or Valkey")
		return
	}
	p.find("version", OK, "Redis "+v, "")
}

// setting returns a setting of the server. known is false if the user may not read it.
func (p *patient) setting(ctx context.Context, name string) (value string, known bool) {
	c, can := p.node.(node.Configured)
	if !can {
		return "", false
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := c.Setting(bounded, name)
	return r.Value, r.Err == nil && r.Value != ""
}

func (p *patient) persistence(ctx context.Context) {
	sync, known := p.setting(ctx, "appendfsync")
	idle, _ := p.setting(ctx, "no-appendfsync-on-rewrite")
	aof := p.info["aof_enabled"] == "1"
	how := "no AOF: after a restart the node has a quarantine"
	if aof {
		how = "AOF, appendfsync " + sync
		if !known {
			how = "AOF; the user may not read appendfsync"
		}
	}
	switch {
	case aof && p.info["aof_last_write_status"] == "err":
		p.find("persistence", Bad, "the AOF cannot be written, so the server refuses all writes (MISCONF)", "make room on its disk, and read its log")
	case p.info["rdb_last_bgsave_status"] == "err":
		p.find("persistence", Bad, "the last snapshot failed, so the server refuses all writes (MISCONF), unless stop-writes-on-bgsave-error is no",
			"make room on its disk, and its dir writable for it: its log names the error; or, because Holdfast needs no snapshots: "+p.set(`save ""`))
	case p.Durable && !aof:
		p.find("persistence", Bad, "no AOF, and the set is declared durable", p.set("appendonly yes", "appendfsync always"))
	case p.Durable && known && sync != "always":
		p.find("persistence", Bad, "appendfsync is "+sync+", and the set is declared durable", p.set("appendfsync always"))
	case p.Durable && idle == "yes":
		p.find("persistence", Bad, "no-appendfsync-on-rewrite is yes, and the set is declared durable", p.set("no-appendfsync-on-rewrite no"))
	case p.Durable && !known:
		p.find("persistence", Note, "not known: the user may not read the settings", p.allow(ctx, "ACL SETUSER "+shell(p.user(ctx))+" '+config|get'"))
	case len(p.Nodes) == 1 && !p.Durable && p.server == nil:
		p.find("persistence", Note, how+"; with one node every restart ends all locks", "use three nodes, or a durable one: appendonly yes, appendfsync always, and --durable for all clients")
	default:
		p.find("persistence", OK, how, "")
	}
}

func (p *patient) memory() {
	limit, used, policy := p.number("maxmemory"), p.number("used_memory"), p.info["maxmemory_policy"]
	fix := p.set("maxmemory-policy noeviction") + "; if the node evicted keys or never voted, " + p.silent()
	switch {
	case limit > 0 && policy != "noeviction" && p.server != nil && !p.server.master:
		p.find("memory", Warn, "maxmemory-policy is "+policy+": if it is promoted, it may delete locks, and does not vote", p.set("maxmemory-policy noeviction"))
	case limit > 0 && policy != "noeviction":
		p.find("memory", Bad, "maxmemory-policy is "+policy+": the server may delete locks, so it does not vote", fix)
	case limit > 0 && used > limit:
		p.find("memory", Bad, fmt.Sprintf("full: %.1f MiB are used, and maxmemory is %.1f MiB; it refuses new locks (OOM)", mib(used), mib(limit)), p.room(limit, used))
	case limit > 0 && used > limit/10*9:
		p.find("memory", Warn, fmt.Sprintf("%.1f of %.1f MiB are used; a full server refuses new locks", mib(used), mib(limit)), p.room(limit, used))
	case limit > 0:
		p.find("memory", OK, fmt.Sprintf("%d of %d MiB are used, noeviction", used>>20, limit>>20), "")
	default:
		p.find("memory", OK, fmt.Sprintf("%d MiB are used, no limit", used>>20), "")
	}
	restart := "The count is 0 again after a restart"
	if !p.Durable {
		restart += "; " + p.silent()
	}
	switch n := p.number("evicted_keys"); {
	case n == 0:
		p.find("evictions", OK, "none", "")
	case policy == "noeviction":
		p.find("evictions", Warn, evicted(n), "find out who changed maxmemory-policy. It is noeviction now, and the check votes shows if a quarantine goes on. "+restart)
	case limit > 0:
		p.find("evictions", Warn, evicted(n), "mend what the check memory says, and make room. "+restart)
	default:
		p.find("evictions", Warn, evicted(n), fix+". "+restart)
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// room returns the advice for a server whose memory is nearly full. The limit in it leaves at least as much room as is
// used now, and no less than 64 MiB: clients, scripts and buffers also need memory.
func (p *patient) room(limit, used int64) string {
	return fmt.Sprintf("delete other data, or give it more memory: "+p.set("maxmemory %dmb"), (max(2*limit, 2*used, used+64<<20)+1<<20-1)>>20)
}

func evicted(n int64) string {
	return fmt.Sprintf("keys were evicted since the server started (%d); locks may be among them", n)
}

// do runs a command that an operator uses. An error is a result, too: the user may not have the right to run the
// command.
func (p *patient) do(ctx context.Context, command ...string) node.Reply {
	c, can := p.node.(node.Commander)
	if !can {
		return node.Reply{Err: fmt.Errorf("the driver sends no commands")}
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.Do(bounded, command...)
}

// slowScript counts the slow commands of the last hour. It also returns the time of the slowest one, in µs.
const slowScript = `local n, most, now = 0, 0, tonumber(redis.call('TIME')[1])
for _, entry in ipairs(redis.call('SLOWLOG', 'GET', '128')) do
  if now - entry[2] < 3600 then
    n = n + 1
    if entry[3] > most then most = entry[3] end
  end
end
return n .. ' ' .. most`

// latency finds times at which the server did not answer.
func (p *patient) latency(ctx context.Context) {
	var slow []string
	severity := Note
	worse := func(took time.Duration) {
		if took > p.Window/4 {
			severity = Warn
		}
	}
	if fork := time.Duration(p.number("latest_fork_usec")) * time.Microsecond; fork > p.Window/10 {
		slow = append(slow, fmt.Sprintf("the last fork took %s", fork.Round(time.Millisecond)))
		worse(fork)
	}
	if n := p.number("aof_delayed_fsync"); n > 0 {
		slow = append(slow, fmt.Sprintf("%d writes waited for the disk (aof_delayed_fsync)", n))
		severity = Warn
	}
	lasts := untilRestart(slow)
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var n, us int64
	if r := p.node.Eval(bounded, slowScript, node.Call{}); r.Err == nil {
		if _, err := fmt.Sscan(r.Value, &n, &us); err == nil && n > 0 {
			took := time.Duration(us) * time.Microsecond
			slow = append(slow, fmt.Sprintf("%s in the last hour, the longest took %s", printable.Count(n, "slow command"), took.Round(100*time.Microsecond)))
			worse(took)
		}
	}
	if len(slow) == 0 {
		p.find("latency", OK, "no slow command, fork or disk seen", "")
		return
	}
	slices.Sort(slow)
	p.find("latency", severity, strings.Join(slow, "; "), "look: "+p.redis("SLOWLOG GET 10")+"; move other programs to another server, switch transparent huge pages off, "+
		"use a faster disk; then: "+p.redis("SLOWLOG RESET")+lasts)
}

// untilRestart returns the advice about findings that only a restart of the server ends, "" if there is none: the last
// fork, and the writes that waited for the disk. Each of them has a text that names it.
func untilRestart(findings []string) string {
	if len(findings) == 0 {
		return ""
	}
	return "; until the server restarts, doctor shows: " + strings.Join(findings, ", ") + ". CONFIG RESETSTAT would remove this, but can hide an eviction"
}
