package driver

import (
	"fmt"

	"github.com/holdfast-go/holdfast/node"
)

// This file refuses calls whose hash slot the shard does not have. A node outside of a cluster has a nil shard, which
// refuses no call.

// refuses returns nil if a majority has confirmed, within [node.NamedFor], that the shard has the hash slot of the
// call's last key. Otherwise the shard's master must not get the call, and refuses returns the error for it. A call
// without keys is not bound to a slot.
func (s *Shard) refuses(c *node.Call) error {
	if len(c.Keys) == 0 {
		return nil
	}
	now, slot := s.cluster.now.Load(), node.SlotOf(c.Keys[len(c.Keys)-1])
	if now == nil || steady().Sub(now.asked) > node.NamedFor {
		return node.NotSent(fmt.Errorf("no majority of the cluster has named the owner of hash slot %d within %s", slot, node.NamedFor))
	}
	switch owner := now.topology.Owner[slot]; {
	case owner < 0:
		return &node.Error{Code: node.ClusterDown, Message: fmt.Sprintf("CLUSTERDOWN no majority of the cluster names an owner of hash slot %d", slot)}
	case now.shards[owner] != s:
		return &node.Error{Code: node.Moved, Message: fmt.Sprintf("MOVED %d %s", slot, now.topology.Shards[owner].Master.Addr)}
	}
	return nil
}

// Sift returns the calls that may be sent, and a slice for their replies. It replies to the other calls itself.
func (s *Shard) Sift(calls []node.Call, replies []node.Reply) (sent []node.Call, into []node.Reply) {
	if s == nil {
		return calls, replies
	}
	refused := 0
	for i := range calls {
		if replies[i].Err = s.refuses(&calls[i]); replies[i].Err != nil {
			refused++
		}
	}
	if refused == 0 {
		return calls, replies
	}
	for i := range calls {
		if replies[i].Err == nil {
			sent = append(sent, calls[i])
		}
	}
	return sent, make([]node.Reply, len(sent))
}

// Place copies the replies to the sent calls from into, the slice of Sift, to their places in replies.
func Place(replies, into []node.Reply) {
	if len(into) == len(replies) {
		return // they are the same
	}
	for i := range replies {
		if replies[i].Err == nil {
			replies[i], into = into[0], into[1:]
		}
	}
}

// RefusesAll replies to all calls and returns true if none may be sent because the hash slots are elsewhere. Otherwise it
// does nothing. So a call needs no connection to learn that a shard has lost its slots.
func (s *Shard) RefusesAll(calls []node.Call, replies []node.Reply) bool {
	if s == nil {
		return false
	}
	for i := range calls {
		if replies[i].Err = s.refuses(&calls[i]); node.Code(replies[i].Err) == "" {
			clear(replies)
			return false
		}
	}
	return true
}

// Fail replies to calls that could not be sent. A call whose hash slot is elsewhere gets an error that says so.
func (s *Shard) Fail(calls []node.Call, replies []node.Reply, err error) {
	for i := range calls {
		replies[i] = node.Reply{Err: err}
		if s == nil {
			continue
		}
		if e := s.refuses(&calls[i]); node.Code(e) != "" {
			replies[i].Err = e
		}
	}
}
