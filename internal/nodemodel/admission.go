package nodemodel

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

func (n *Node) hello() string {
	a, _ := n.remembered()
	return nodescript.Micros(n.now()) + n.Info.Run + "\n" + n.Info.Version + "\n" + a.id
}

// admission is the state that decides whether a node votes.
type admission struct {
	run, config string
	until       int64 // the node votes from then on; 0: it votes now
	refreshed   int64 // the guard's last refresh
	replid      string
	evicted     string
	why         string
	challenge   string
	id          string // the id of the server and its data
	since       int64  // when the memory began
	came        int64  // when the hash slot came from another server; 0: it did not, or the node is no shard
	fed         string // the bytes that a shard had read from a master at its admission
	apart       int64  // the differences of the clocks at its moves of late; 0: none
	settled     string // "1": it came to a server that had lost nothing
	spoilt      bool   // a field that is a number has another value
	epoch       string // the epoch under which Sentinel named the server; "" if no client has told it
}

// never is the end of a quarantine that has not begun.
const never = 9_999_999_999_999_999

func (n *Node) remembered() (a admission, err error) {
	v, there := n.keys[nodescript.AdmissionKey]
	if !there {
		return a, nil
	}
	if v.hash == nil {
		return a, wrongType
	}
	a = admission{
		run: v.hash["run"], config: v.hash["config"], replid: v.hash["replid"], evicted: v.hash["evicted"], why: v.hash["why"],
		challenge: v.hash["challenge"], id: v.hash["id"], epoch: v.hash["epoch"], fed: v.hash["fed"], settled: v.hash["settled"],
	}
	var epoch int64
	for field, n := range map[string]*int64{"epoch": &epoch, "came": &a.came, "apart": &a.apart, "since": &a.since, "until": &a.until, "refreshed": &a.refreshed} {
		text, there := v.hash[field]
		if !there {
			continue
		}
		if text == "" && field != "epoch" || len(text) > 16 || strings.Trim(text, "0123456789") != "" || field == "came" && len(text) != 16 {
			if a.spoilt = true; field == "epoch" {
				a.epoch = ""
			}
			continue
		}
		*n, _ = strconv.ParseInt(text, 10, 64)
	}
	return a, nil
}

// evicted reports whether the node has evicted keys since its admission. If so, a name without a record may have had
// one, and the node stops voting until it is admitted again.
func (n *Node) evicted() bool {
	if a, err := n.remembered(); err == nil && a.evicted == strconv.FormatInt(n.Info.Evicted, 10) {
		return false
	}
	delete(n.keys, nodescript.GuardKey)
	n.wrote()
	return true
}

// admit decides whether this incarnation votes under this configuration. Its args are stamp - W, stamp + W, challenge,
// nonce, U if all nodes are unused, and perhaps what a driver appends: see [node.Call.Epoch]. If the node is a hash slot of
// a shard, its fifth arg is what the client knows about the server from which the slot came: see [Node.adopt].
func (n *Node) admit(config nodescript.Config, run string, c node.Call) (string, error) {
	if run != n.Info.Run {
		return "", node.ServerError(nodescript.OtherRun + " " + n.Info.Run)
	}
	switch i := n.Info; {
	case i.Role != "master":
		return "Urole " + i.Role, nil
	case i.Cluster != config.Sharded:
		return "Ucluster", nil
	case i.MaxMemory > 0 && i.Policy != "noeviction":
		return "Upolicy " + i.Policy, nil
	}
	if answer := n.offClock(number(c.Args[0]), number(c.Args[1])); answer != "" {
		return answer, nil
	}
	a, err := n.remembered()
	if err != nil {
		return "", err
	}
	guard, _, err := n.text(nodescript.GuardKey)
	if err != nil {
		return "", err
	}

	now := n.now()
	known := a.run == run
	promoted := strings.Trim(n.Info.ReplID2, "0") != "" // the server was a replica: its data came from another server
	copied := a.replid != n.Info.ReplID && (promoted || config.Sharded && known && n.Info.Followed && a.fed != n.Info.fed())
	evicted := a.evicted != strconv.FormatInt(n.Info.Evicted, 10)
	changed := a.config != "" && a.config != config.String()
	var epoch, firm, age, former string
	if len(c.Args) > 8 {
		epoch, firm, age, former = c.Args[5], c.Args[6], c.Args[7], c.Args[8]
	}
	idle := a.refreshed != 0 && now >= a.refreshed+nodescript.GuardKept.Microseconds()
	over := nodescript.GuardKept + config.Quarantine() // by then every lock that was granted under the guard has ended

	if config.Sharded && !known {
		idleWhole, err := n.wholeIdle(config, a, guard, idle)
		if err != nil {
			return "", err
		}
		answer, adopted := n.adopt(config, &a, guard, c.Args[4], idleWhole)
		if answer != "" {
			return answer, nil
		}
		if adopted {
			known, copied, evicted = true, false, false
			guard, _, _ = n.text(nodescript.GuardKey)
		}
	}
	renamed := epoch != "" && epoch != a.epoch
	// another server may have been the master for a time
	left := renamed || age != "" && former != a.run && now-number(age) > max(a.since, a.came)

	// A request that comes very late, after the clock went back, must not set the guard's end back.
	votes := func() (string, error) {
		if now < a.refreshed-2*config.Window.Microseconds() {
			return n.lost(config, "clock-back", epoch, false), nil
		}
		return n.ready(config), nil
	}
	if known && !a.spoilt && !changed && !copied && !left && !evicted && guard == config.String()+" "+run {
		return votes()
	}
	trust, _, err := n.text(nodescript.TrustKey)
	if err != nil {
		return "", err
	}
	vouchedFor := func(what string) bool { return trust == what+" "+config.String() }
	mark := n.mark(a, guard)
	full, trusted := config.Quarantine().Microseconds(), config.TrustedQuarantine().Microseconds()
	if a.epoch != "" {
		full = config.NamedQuarantine().Microseconds()
	}
	amnesia := func(why string) (string, error) { return n.lost(config, why, epoch, false), nil }
	survived := config.Durable && n.Info.AOF && !promoted
	kept, _, err := n.text(nodescript.KeptKey)
	if err != nil {
		return "", err
	}
	// A node without its guard forgot locks, unless the guard was due to expire.
	whole := guard == config.String()+" "+a.run || idle && (kept == a.run || now >= a.refreshed+over.Microseconds())
	up := floorDiv(floorDiv(n.Clock())) - n.Info.Booted
	// it has granted nothing for longer than a quarantine, so it has nothing to forget
	unused := !n.Info.Ran && !promoted && !n.Info.Followed && epoch+a.epoch == "" && age == "" &&
		(up-1)*1_000_000 >= config.Quarantine().Microseconds()
	says := func(why string) string { // a server becomes unused while time passes
		switch {
		case unused && why == "new":
			return "unused"
		case unused && why == "restarted":
			return "idle"
		}
		return why
	}
	ahead := !known && up < -3600 // the clock was ahead when the server booted
	switch {
	case changed && !vouchedFor(mark): // however long the node was idle
		return "M" + mark + a.config, nil
	case changed:
		return n.lost(config, "configuration", epoch, true), nil
	case a.run == "" || a.challenge == "":
		return amnesia("new")
	case a.spoilt:
		for _, field := range []string{"came", "apart", "settled"} {
			delete(n.keys[nodescript.AdmissionKey].hash, field)
		}
		return amnesia("guard")
	case renamed && epoch < a.epoch && firm != "F": // the client has not heard of a later failover
		return "Uepoch " + epoch + " " + a.epoch, nil
	case known && evicted:
		return amnesia("evicted")
	case known && copied:
		return amnesia("copied")
	case !known && !survived && promoted && n.Info.Followed:
		return amnesia("promoted")
	case !known && !survived:
		return amnesia("restarted")
	case left:
		return amnesia("named")
	case a.until == 0 && (ahead || !whole):
		if ahead {
			return amnesia("boot-clock")
		}
		return amnesia("guard")
	case a.until == 0: // the node lost nothing
		return votes()
	}
	// The node does not vote. Only an answer to its challenge changes that.
	rest, vouched := a.until-now, vouchedFor(a.challenge)
	begins := rest > full
	if c.Args[4] == "U" && c.Args[2] == a.challenge && says(a.why) != a.why {
		return n.ready(config), nil
	}
	switch {
	case rest > 0 && !begins && !(vouched && rest > trusted):
		return "Q" + nodescript.Micros(now) + nodescript.Micros(rest) + a.challenge + says(a.why), nil
	case c.Args[2] != a.challenge:
		return "C" + nodescript.Micros(now) + a.challenge, nil
	case rest <= 0:
		return n.ready(config), nil
	case vouched:
		return n.quarantine(a, trusted, "vouched", "vouched"), nil
	case a.until == never:
		return n.quarantine(a, full, a.why, says(a.why)), nil
	}
	return n.quarantine(a, full, "clock-back", "clock-back"), nil
}

// mark returns a digest of the present memory of the node. A voucher that replaces the node's configuration names it.
func (n *Node) mark(a admission, guard string) string {
	all := []string{a.challenge, n.Info.Run, n.Info.ReplID, strconv.FormatInt(n.Info.Evicted, 10), guard}
	sum := sha1.Sum([]byte(strings.Join(all, " ")))
	return hex.EncodeToString(sum[:])
}

// trust stores a voucher for a challenge or a mark. Its args are ms, configuration, challenge or mark.
func (n *Node) trust(c node.Call) (string, error) {
	guard, _, err := n.text(nodescript.GuardKey)
	if err != nil {
		return "", err
	}
	a, err := n.remembered()
	if err != nil {
		return "", err
	}
	config, names := c.Args[1], a.challenge
	if a.config != config {
		names = n.mark(a, guard)
	}
	switch v := n.keys[nodescript.AdmissionKey]; {
	case a.config == config && v.hash["until"] == "0":
		return "R", nil // the node votes
	case c.Args[2] != names:
		return "V", nil
	case n.Full:
		return "", oom
	}
	n.setText(nodescript.TrustKey, names+" "+config, number(c.Args[0]))
	return "R", nil
}

func (n *Node) ready(config nodescript.Config) string {
	a, _ := n.remembered()
	challenge := a.challenge
	if guard, _, _ := n.text(nodescript.GuardKey); guard != config.String()+" "+n.Info.Run || challenge == "" {
		challenge = n.Challenge()
	}
	full := ""
	if n.Full {
		full = oom.Message
	}
	delete(n.keys, nodescript.TrustKey) // a voucher is for one quarantine
	n.vote(config)
	n.remember(config, "0", "", challenge)
	return "R" + nodescript.Micros(n.now()) + full
}

// vote sets the guard. It also sets the key that outlives the guard until all locks granted under the guard have ended.
func (n *Node) vote(config nodescript.Config) {
	n.setText(nodescript.GuardKey, config.String()+" "+n.Info.Run, nodescript.GuardKept.Milliseconds())
	n.setText(nodescript.KeptKey, n.Info.Run, floorDiv((nodescript.GuardKept+config.Quarantine()).Microseconds()+999))
}

// lost notes a loss of memory. The quarantine begins when a client answers the challenge. A voucher for the
// configuration stays valid.
func (n *Node) lost(config nodescript.Config, why, epoch string, vouched bool) string {
	delete(n.keys, nodescript.GuardKey)
	delete(n.keys, nodescript.TrustKey)
	challenge := n.Challenge()
	n.remember(config, nodescript.Micros(never), why, challenge)
	a, _ := n.remembered()
	n.setFields(nodescript.AdmissionKey, map[string]string{"since": nodescript.Micros(n.now()), "epoch": cmp.Or(epoch, a.epoch)})
	if vouched {
		n.setText(nodescript.TrustKey, challenge+" "+config.String(), nodescript.VoucherKept.Milliseconds())
	}
	return "C" + nodescript.Micros(n.now()) + challenge
}

// quarantine begins a quarantine because of why. The answer says another cause if the node is unused.
func (n *Node) quarantine(a admission, us int64, why, says string) string {
	delete(n.keys, nodescript.GuardKey)
	delete(n.keys, nodescript.TrustKey)
	n.setFields(nodescript.AdmissionKey, map[string]string{"until": nodescript.Micros(n.now() + us), "why": why})
	return "Q" + nodescript.Micros(n.now()) + nodescript.Micros(us) + a.challenge + says
}

func (n *Node) remember(config nodescript.Config, until, why, challenge string) {
	a, _ := n.remembered()
	if a.id == "" {
		sum := sha1.Sum([]byte(challenge + n.Info.Run))
		a.id = hex.EncodeToString(sum[:])
	}
	n.setFields(nodescript.AdmissionKey, map[string]string{
		"run": n.Info.Run, "config": config.String(), "until": until, "refreshed": nodescript.Micros(n.now()),
		"replid": n.Info.ReplID, "evicted": strconv.FormatInt(n.Info.Evicted, 10), "why": why, "challenge": challenge, "id": a.id,
	})
	if config.Sharded {
		n.setFields(nodescript.AdmissionKey, map[string]string{"fed": n.Info.fed()})
	}
}

// setFields does HSET. The key must not hold a string.
func (n *Node) setFields(key string, fields map[string]string) {
	v, there := n.keys[key]
	if !there {
		v = &value{hash: map[string]string{}}
		n.keys[key] = v
	}
	maps.Copy(v.hash, fields)
}

// refresh extends the life of the guard. Its args are stamp - W, stamp + W.
func (n *Node) refresh(s script, c node.Call) (string, error) {
	if answer, err := n.guarded(s); answer != "" || err != nil {
		return answer, err
	}
	if answer := n.offClock(number(c.Args[0]), number(c.Args[1])); answer != "" {
		return answer, nil
	}
	a, err := n.remembered()
	if err != nil {
		return "", err
	}
	if a.refreshed-n.now() > 2*s.config.Window.Microseconds() {
		return "O" + nodescript.Micros(n.now()), nil // sent long ago: the clock went back
	}
	n.keys[nodescript.GuardKey].expires = n.Clock()/1000 + nodescript.GuardKept.Milliseconds()
	n.setText(nodescript.KeptKey, s.run, floorDiv((nodescript.GuardKept+s.config.Quarantine()).Microseconds()+999))
	n.setFields(nodescript.AdmissionKey, map[string]string{"refreshed": nodescript.Micros(n.now())})
	return "R", nil
}

func (n *Node) inspect(c node.Call) (string, error) {
	record, _, err := n.text(c.Keys[0])
	if err != nil {
		record = "?"
	}
	record = head(record, nodescript.MostRecord+1)
	kind := "-"
	text, there, err := n.text(c.Keys[1])
	if err != nil {
		kind = "t"
	} else if there {
		kind = "s"
	}
	votes := "-"
	a, _ := n.remembered()
	guard, _, _ := n.text(nodescript.GuardKey)
	if _, run, ok := strings.Cut(guard, " "); ok && run[strings.LastIndex(run, " ")+1:] == n.Info.Run && a.evicted == strconv.FormatInt(n.Info.Evicted, 10) {
		votes = "v"
	}
	out := nodescript.Micros(n.now()) + kind + votes + n.left(c.Keys[1]) + fmt.Sprintf("%06d", len(record)) + record
	text = head(text, 256)
	return out + fmt.Sprintf("%03d", len(text)) + text + n.listed(c, record), nil
}
