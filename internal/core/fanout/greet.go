package fanout

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// hello asks a node for its incarnation and its clock.
func (v *voter) hello(ctx context.Context, timeout time.Duration) (nodescript.Hello, quorum.Reading, error) {
	// The first answer includes the time to connect. A reading of a clock is uncertain by half of its round trip, and
	// so is a ticket that is based on it. So after a long round trip, hello asks again. It does not ask again if the
	// timeout leaves too little time: the driver closes the connection of a call that is cut off.
	var best quorum.Reading
	var h nodescript.Hello
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := v.fan.Now()
	for tries := 0; ; tries++ {
		sent := v.fan.Now()
		again, err := nodescript.ParseHello(v.node.Eval(within, nodescript.HelloText(), node.Call{}))
		received := v.fan.Now()
		switch {
		case tries > 0 && node.Timeout(err):
			return h, best, nil // the node answered the question before this one in time
		case node.Timeout(err):
			return again, quorum.Reading{}, Overdue{v.fan.config.Timeout, err}
		case err != nil:
			return again, quorum.Reading{}, err
		}
		if h = again; tries == 0 {
			v.heard.Store(true)
		}
		if took := received.Sub(sent); tries == 0 || took < best.Received.Sub(best.Sent) {
			best = quorum.Reading{Node: v.index, Time: h.Time, Sent: sent, Received: received}
		}
		took := best.Received.Sub(best.Sent)
		v.noteTrip(took)
		if took <= v.fan.config.Set.Window/64 || tries == 2 || received.Sub(began)+took > timeout {
			return h, best, nil
		}
	}
}

// Overdue is the error of a node that did not answer a greeting in time. The node may only be far away: the time to
// connect counts, too.
type Overdue struct {
	Timeout time.Duration
	err     error
}

// Error returns the timeout and the driver's error.
func (l Overdue) Error() string {
	return fmt.Sprintf("no answer within the node timeout, %s: %v", l.Timeout, l.err)
}

// Unwrap returns the driver's error.
func (l Overdue) Unwrap() error { return l.err }

func (v *voter) greet() bool {
	h, reading, err := v.hello(v.fan.ctx, v.fan.patience())
	twin := ""
	if err == nil {
		h.Lax, h.Sync, err = v.lessDurable(v.fan.ctx)
	}
	if err == nil {
		v.fan.sawAlive(v.index, h.ID, reading.Sent)
		v.fan.read(reading)
		twin = v.fan.meet(v.index, h.Run)
	}
	back := v.unmet.Swap(err != nil) && err == nil
	v.mu.Lock()
	defer v.mu.Unlock()
	if back {
		v.dialAgain()
	}
	if back && v.back != nil {
		close(v.back)
		v.back = nil
	}
	v.standing.Greeted(v.fan.Now(), h, err, twin)
	if v.spared(h) && v.standing.Next(v.fan.Now()) == quorum.Admit {
		v.standing.NoMember(v.fan.Now(), failed(ErrNeverUsed))
	}
	return v.noteRefusal(v.standing.Next(v.fan.Now()) == quorum.Admit)
}

// admit asks the node to vote. It needs a stamp that the clocks of a majority confirm, so it first waits until the
// client has greeted that majority. A node that lost its memory answers with a challenge. admit then returns true, and
// the caller calls it again. The second call draws a stamp after the challenge and quotes the challenge. A look skips no
// quarantine: it would be skipped for all clients, and nobody here wants a lock.
func (v *voter) admit(looks bool) bool {
	timeout := time.NewTimer(v.fan.patience())
	defer timeout.Stop()
	select {
	case <-v.fan.settled:
	case <-timeout.C:
	case <-v.fan.ctx.Done():
	}
	v.mu.Lock()
	scripts, loaded, challenge := v.standing.Scripts(), v.standing.Loaded(), v.standing.Challenge()
	v.mu.Unlock()
	stamp, within, err := v.fan.admission()
	if err != nil {
		loaded = loaded || v.load(scripts)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.standing.Unsettled(v.fan.Now(), loaded, err)
		return v.noteRefusal(false)
	}
	a, sent, received := v.evalAdmit(scripts, loaded, stamp, within, challenge, false)
	if a.NothingGranted() && !looks {
		v.mu.Lock()
		v.standing.HasScripts() // releases do not wait
		v.mu.Unlock()
		challenge = a.Names
		a, received = v.settleUnused(scripts.Run, a, sent, received, func(unused bool) (a nodescript.Answer, sent, received clock.Instant) {
			stamp, within, err := v.fan.admission()
			if err != nil {
				return failed(err), v.fan.Now(), v.fan.Now()
			}
			return v.evalAdmit(scripts, true, stamp, within, challenge, unused)
		})
	} else {
		v.fan.unused.note(v.index, a, false, sent, received)
	}
	member := nodescript.Answer{Verdict: nodescript.Done}
	if a.Verdict == nodescript.Done && v.fan.lists() {
		member = v.fan.member(v.index)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.standing.Admitted(received, a); member.Verdict != nodescript.Done {
		v.standing.NoMember(v.fan.Now(), member)
		return v.noteRefusal(false)
	}
	again := a.Verdict == nodescript.Challenged && v.standing.Next(received) == quorum.Admit
	return v.noteRefusal(again || a.Verdict == nodescript.Done)
}

// evalAdmit runs admit on the node, and loads the scripts if the node does not have them. Loading needs a second round
// trip, so the time limit is then twice as long. The caller must draw stamp after the node answered with challenge.
// unused says that all nodes are unused.
func (v *voter) evalAdmit(scripts *nodescript.Scripts, loaded bool, stamp int64, within time.Duration, challenge string, unused bool) (a nodescript.Answer, sent, received clock.Instant) {
	set := v.fan.config.Set
	call := nodescript.AdmitCall(stamp, within, challenge, strconv.FormatUint(v.fan.config.Random(), 36), unused)
	load, timeout := scripts.Load(), 2*v.fan.patience()
	if loaded {
		load, timeout = nil, v.fan.patience()
	}
	ctx, cancel := context.WithTimeout(v.fan.ctx, timeout)
	defer cancel()
	sent = v.fan.Now()
	a = nodescript.ParseAdmit(set, v.node.Eval(ctx, scripts.Admit, call, load...))
	received = v.fan.Now()
	took := received.Sub(sent)
	if !loaded {
		took /= 2
	}
	if a.Verdict == nodescript.OffClock {
		a.Took = took
		if off := 2*set.Window - within; within < set.Window && time.Duration(stamp-a.Time).Abs()*time.Microsecond <= set.Window {
			a.Cause, a.Evidence = nodescript.Inexact, &nodescript.Evidence{Off: off}
		}
	}
	if a.Time != 0 && loaded { // if loaded is false, the call took several round trips; the reading of hello is better
		v.fan.read(quorum.Reading{Node: v.index, Time: a.Time, Sent: sent, Received: received})
	}
	if a.Verdict == nodescript.OffClock {
		v.fan.offClock(v.index)
	}
	return a, sent, received
}

// load loads the scripts on the node without an admission, because releases need no vote. It returns true if the node
// is still the incarnation for which the client made the scripts.
func (v *voter) load(scripts *nodescript.Scripts) bool {
	ctx, cancel := context.WithTimeout(v.fan.ctx, 2*v.fan.patience()) // the call needs two round trips
	defer cancel()
	a := nodescript.ParseAdmit(v.fan.config.Set, v.node.Eval(ctx, scripts.Admit, nodescript.LoadCall(), scripts.Load()...))
	return a.Verdict != nodescript.Failed && a.Verdict != nodescript.NotAdmitted
}

// refresh renews the node's guard and reads its clock. It ignores errors, because the next call to the node finds
// them.
func (v *voter) refresh() {
	v.mu.Lock()
	v.standing.Refreshed(v.fan.Now())
	scripts := v.standing.Scripts()
	v.mu.Unlock()
	h, reading, err := v.hello(v.fan.ctx, v.fan.patience())
	if err != nil {
		return
	}
	v.fan.read(reading)
	if h.Run != scripts.Run {
		return
	}
	stamp, _ := v.fan.StampHeld()
	call := nodescript.RefreshCall(stamp, v.fan.config.Set.Window)
	ctx, cancel := context.WithTimeout(v.fan.ctx, v.fan.patience())
	defer cancel()
	if s := v.fan.senders[v.index].slots; s != nil {
		s.refresh(ctx, scripts, call)
		return
	}
	v.node.EvalSHA(ctx, []node.Call{{SHA: scripts.SHA(call.Op), Args: call.Args}})
}
