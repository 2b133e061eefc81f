package nodemodel

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

func (n *Node) hello() string {
	return nodescript.Micros(n.now()) + n.Info.Run + "\n" + n.Info.Version
}

// admission is what a node remembers of how it came to vote, or not to.
type admission struct {
	run, config string
	until       int64 // votes from then on; 0 = it does
	refreshed   int64 // the guard's last refresh
	replid      string
	evicted     string
	why         string
}

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
	}
	a.until, _ = strconv.ParseInt(v.hash["until"], 10, 64)
	a.refreshed, _ = strconv.ParseInt(v.hash["refreshed"], 10, 64)
	return a, nil
}

// evicted: since it was admitted the node was made to evict keys, and what has no record may
// have been one of them. It votes no more until it is admitted anew.
func (n *Node) evicted() bool {
	if a, err := n.remembered(); err == nil && a.evicted == strconv.FormatInt(n.Info.Evicted, 10) {
		return false
	}
	delete(n.keys, nodescript.GuardKey)
	return true
}

// admit: may this incarnation vote under this configuration? args stamp - W, stamp + W.
func (n *Node) admit(config nodescript.Config, run string, c node.Call) (string, error) {
	switch i := n.Info; {
	case i.Run != run:
		return "I" + i.Run, nil
	case i.Role != "master":
		return "Uit is a " + i.Role + "; a node must be a master", nil
	case i.Cluster:
		return "Uit runs in Redis Cluster mode; a node must be a server of its own", nil
	case i.MaxMemory > 0 && i.Policy != "noeviction":
		return "Umaxmemory-policy is " + i.Policy + ", which may delete locks; set it to noeviction", nil
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
	promoted := strings.Trim(n.Info.ReplID2, "0") != "" // it was a replica: its data came from another server
	copied := a.replid != n.Info.ReplID && promoted
	evicted := a.evicted != strconv.FormatInt(n.Info.Evicted, 10)
	changed := a.config != "" && a.config != config.String()
	idle := a.refreshed != 0 && now >= a.refreshed+nodescript.GuardKept.Microseconds()
	over := nodescript.GuardKept + config.Quarantine() // then every lock granted under the guard is over

	if known && !changed && !copied && !evicted && guard == config.String()+" "+run {
		return n.ready(config), nil
	}
	trust, _, err := n.text(nodescript.TrustKey)
	if err != nil {
		return "", err
	}
	named := trust == run+" "+config.String() // a voucher for this very configuration may replace another
	if changed && !idle && !named {
		return "M" + a.config, nil
	}
	if named || trust == run {
		delete(n.keys, nodescript.TrustKey)
		return n.quarantine(config, config.TrustedQuarantine().Microseconds(), "an operator vouched for it"), nil
	}
	full := config.Quarantine().Microseconds()
	amnesia := func(why string) (string, error) { return n.quarantine(config, full, why), nil }
	survived := config.Durable && n.Info.AOF && !promoted
	kept, _, err := n.text(nodescript.KeptKey)
	if err != nil {
		return "", err
	}
	// Without its guard it forgot locks, unless the guard was due to expire.
	whole := guard == config.String()+" "+a.run || idle && (kept == a.run || now >= a.refreshed+over.Microseconds())
	ahead := !known && floorDiv(floorDiv(n.Clock()))-n.Info.Booted < -3600 // of its time, when it booted
	switch {
	case changed:
		return amnesia("its configuration changed")
	case a.run == "":
		return amnesia("its memory is new")
	case known && evicted:
		return amnesia("it evicted keys")
	case known && copied:
		return amnesia("its data came from another server")
	case !known && !survived:
		return amnesia("it restarted")
	case a.until == 0 && (ahead || !whole):
		if ahead {
			return amnesia("it booted with a wrong clock")
		}
		return amnesia("its guard vanished")
	case now >= a.until: // also a restart that lost nothing and was not in quarantine
		return n.ready(config), nil
	case a.until > now+full && known:
		return amnesia("its clock went back")
	case a.until > now+full:
		return amnesia("it restarted")
	case !known: // the rest of a quarantine, in a new incarnation
		return n.quarantine(config, a.until-now, a.why), nil
	}
	return "Q" + nodescript.Micros(now) + nodescript.Micros(a.until-now) + a.why, nil
}

func (n *Node) ready(config nodescript.Config) string {
	delete(n.keys, nodescript.TrustKey) // a voucher is for one quarantine
	n.vote(config)
	n.remember(config, 0, "")
	return "R" + nodescript.Micros(n.now())
}

// vote sets the guard, and the key that outlives it until all locks granted under it are over.
func (n *Node) vote(config nodescript.Config) {
	n.setText(nodescript.GuardKey, config.String()+" "+n.Info.Run, nodescript.GuardKept.Milliseconds())
	n.setText(nodescript.KeptKey, n.Info.Run, floorDiv((nodescript.GuardKept+config.Quarantine()).Microseconds()+999))
}

func (n *Node) quarantine(config nodescript.Config, us int64, why string) string {
	delete(n.keys, nodescript.GuardKey)
	n.remember(config, n.now()+us, why)
	return "Q" + nodescript.Micros(n.now()) + nodescript.Micros(us) + why
}

func (n *Node) remember(config nodescript.Config, until int64, why string) {
	printed := "0"
	if until != 0 {
		printed = nodescript.Micros(until)
	}
	n.setFields(nodescript.AdmissionKey, map[string]string{
		"run": n.Info.Run, "config": config.String(), "until": printed, "refreshed": nodescript.Micros(n.now()),
		"replid": n.Info.ReplID, "evicted": strconv.FormatInt(n.Info.Evicted, 10), "why": why,
	})
}

// setFields is HSET; the key must not hold a string.
func (n *Node) setFields(key string, fields map[string]string) {
	v, there := n.keys[key]
	if !there {
		v = &value{hash: map[string]string{}}
		n.keys[key] = v
	}
	maps.Copy(v.hash, fields)
}

// refresh: args stamp - W, stamp + W.
func (n *Node) refresh(s script, c node.Call) (string, error) {
	if answer, err := n.guarded(s); answer != "" || err != nil {
		return answer, err
	}
	if answer := n.offClock(number(c.Args[0]), number(c.Args[1])); answer != "" {
		return answer, nil
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
	kind := "-"
	text, there, err := n.text(c.Keys[1])
	if err != nil {
		kind = "t"
	} else if there {
		kind = "s"
	}
	return nodescript.Micros(n.now()) + kind + n.left(c.Keys[1]) + fmt.Sprintf("%06d", len(record)) + record + head(text, 256), nil
}
