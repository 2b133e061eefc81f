package nodemodel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// This file admits a hash slot that came from another server. See adopt.lua.

// fed returns the field of an admission that shows whether the server copies data. The model of a server that was a
// replica has read a byte.
func (i *Info) fed() string {
	if i.Followed {
		return "1"
	}
	return "0"
}

// wholeIdle reports whether the guard has only expired, because nobody used the node.
func (n *Node) wholeIdle(config nodescript.Config, a admission, guard string, idle bool) (bool, error) {
	if guard != "" || !idle {
		return false, nil
	}
	kept, _, err := n.text(nodescript.KeptKey)
	over := nodescript.GuardKept + config.Quarantine()
	return kept == a.run || n.now() >= a.refreshed+over.Microseconds(), err
}

// adopt takes a hash slot over that has come from another server, if the proof says that this server has kept its memory
// until now. A slot that voted there votes here: then adopt returns the answer. A quarantine goes on for its rest. The
// answer is F if the client must get a proof first. expired says that the guard has only expired.
func (n *Node) adopt(config nodescript.Config, a *admission, guard, proof string, expired bool) (answer string, adopted bool) {
	voted := a.until == 0
	if a.run == "" || a.spoilt || a.config != config.String() || voted && guard != config.String()+" "+a.run && !expired {
		return "", false
	}
	if proof == "" {
		return "F" + nodescript.Micros(n.now()) + a.run, false
	}
	var run, data, evicted, copied string
	var at, passed, greatest int64
	if _, err := fmt.Sscanf(proof, "P%s %s %s %s %d %d %d", &run, &data, &evicted, &copied, &at, &passed, &greatest); err != nil {
		return "", false
	}
	mine, ahead, before := n.Info.ReplID2, n.now()-at-passed, int64(0)
	lately := a.came != 0 && n.now()-a.came < (config.NamedQuarantine()+2*config.Window).Microseconds()
	if lately {
		before = a.apart
	}
	switch most := 2 * config.Window.Microseconds(); {
	case run != a.run, evicted != a.evicted: // it has forgotten something
		return "", false
	case data != a.replid && copied != "0": // its data came from another server
		return "", false
	case mine == data, mine == a.replid: // this server was its replica
		return "", false
	case before-ahead > most: // the leases would end at other times here
		return "", false
	case before+ahead > most, ahead > greatest, passed > config.Window.Microseconds(): // the proof is not exact enough
		return "F" + nodescript.Micros(n.now()) + a.run + " " + strconv.FormatInt(before, 10), false
	}
	// This server may have forgotten something itself since the slot came, unless it is settled.
	settled, uptime := "0", n.now()/1_000_000-n.Info.Booted
	if !(lately && a.settled != "1") && !n.Info.Followed && strings.Trim(mine, "0") == "" && (!n.Info.AOF || uptime*1_000_000 > config.NamedQuarantine().Microseconds()+1_000_000) {
		settled = "1"
	}
	came := map[string]string{"came": nodescript.Micros(n.now()), "apart": strconv.FormatInt(before+max(ahead, -ahead), 10), "settled": settled}
	if voted {
		answer = n.ready(config)
		n.setFields(nodescript.AdmissionKey, came)
		return answer, false
	}
	delete(n.keys, nodescript.GuardKey)
	delete(n.keys, nodescript.TrustKey)
	if a.until != never {
		a.until = n.now() + min(a.until-at+config.Window.Microseconds(), config.NamedQuarantine().Microseconds())
	}
	a.run, a.replid, a.evicted, a.came = n.Info.Run, n.Info.ReplID, strconv.FormatInt(n.Info.Evicted, 10), n.now()
	n.setFields(nodescript.AdmissionKey, map[string]string{
		"run": a.run, "replid": a.replid, "evicted": a.evicted, "until": nodescript.Micros(a.until), "fed": n.Info.fed(),
	})
	n.setFields(nodescript.AdmissionKey, came)
	return "", true
}
