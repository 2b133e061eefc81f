// Package admin has the calls of an operator: what the nodes say about themselves, and vouchers for them; a list of all
// locks; and the end of a lock that its holder keeps for too long.
//
//	for lock, err := range admin.List(ctx, client, admin.ListOptions{OlderThan: time.Hour}) {
//		if err != nil {
//			return err // the list is not complete
//		}
//		fmt.Println(lock.Name, lock.Holder())
//	}
//
// [List], [Nodes] and [NamesWithValue] change no lock. After [Unlock] the old holder may believe for a while that it
// has the lock, and after a false [Trust] two owners can hold one lock: see there. The command holdfast has the same
// calls.
// The client needs the rights that docs/guide/rights.md lists.
package admin

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
)

// errNoContext is the error of a call with a nil context.
var errNoContext = errors.New("nil Context")

// Nodes asks every node whether it votes. It returns the answers in the order of [holdfast.Config.Nodes]. A Redis Cluster
// has an answer for each shard that has hash slots. If the shards are not known, it has one answer, which says why.
//
// Nodes changes no lock. A node that no client has asked before begins its quarantine with this call.
func Nodes(ctx context.Context, client *holdfast.Client) []verdict.Answer {
	if ctx == nil {
		panic("holdfast: admin.Nodes: nil Context")
	}
	sets, err := inside.Of(client).Sets(ctx)
	if err != nil {
		return unknown(err)
	}
	return ask(ctx, sets)
}

// ask asks the nodes of all sets at the same time.
func ask(ctx context.Context, sets []inside.Set) []verdict.Answer {
	said := make([][]verdict.Answer, len(sets))
	var wait sync.WaitGroup
	for i, s := range sets {
		wait.Go(func() { said[i] = s.Said.Standings(s.Fan.AskVotes(ctx)) })
	}
	wait.Wait()
	all := slices.Concat(said...)
	if sharded(sets) {
		compare(sets, all)
	}
	return all
}

// sharded reports whether the sets are shards of a Redis Cluster.
func sharded(sets []inside.Set) bool { return sets[0].Fan.Set().Sharded }

// compare sets the offsets of shards: a lease that moves with its hash slot ends by another clock.
func compare(sets []inside.Set, all []verdict.Answer) {
	ahead, known := make([]time.Duration, len(sets)), []time.Duration(nil)
	for i, s := range sets {
		if all[i].OffsetKnown = all[i].Reachable(); !all[i].OffsetKnown {
			continue
		}
		us, at, err := s.Fan.Time()
		if all[i].OffsetKnown = err == nil; err == nil {
			ahead[i] = time.Duration(us)*time.Microsecond - time.Duration(at)
			known = append(known, ahead[i])
		}
	}
	slices.Sort(known)
	for i := range all {
		if all[i].OffsetKnown {
			all[i].Offset = ahead[i] - known[len(known)/2]
		}
	}
}

var errSharded = errors.New("a Redis Cluster takes no vouchers: its quarantine ends by itself")

// unknown returns the answers if the shards of a Redis Cluster are not known.
func unknown(err error) []verdict.Answer {
	var un *holdfast.UnavailableError
	if errors.As(err, &un) {
		return un.Nodes
	}
	return []verdict.Answer{{Reason: verdict.ReasonFailed, Err: err}}
}

// Trust leaves a voucher on each node. A voucher is an operator's statement that no lock is alive on the node, for
// example because the server is new. The node then votes after 9 × Window, and not only after MaxTTL + Window. Trust
// returns the state of each node afterwards.
//
// After a false voucher two owners can hold one lock: the node may have forgotten a lock, and grants it again.
//
// Trust also gives this client's configuration to the nodes. From then on the nodes refuse clients with another
// configuration, and those clients lose their locks.
//
// On a Redis Cluster Trust only replaces other configurations. Each hash slot that had one gets a whole quarantine, and
// nothing shortens that, nor any other quarantine: Err of a node without such a slot says so. seen has no effect there.
//
// seen is the result of [Nodes] on which the operator decided. Trust gives no voucher to a node that lost its
// memory after that result, because a lock may have been alive at that loss. If seen is empty, Trust gives a voucher
// to every node in its present state.
func Trust(ctx context.Context, client *holdfast.Client, seen ...verdict.Answer) []verdict.Answer {
	if ctx == nil {
		panic("holdfast: admin.Trust: nil Context")
	}
	sets, err := inside.Of(client).Sets(ctx)
	if err != nil {
		return unknown(err)
	}
	if sharded(sets) {
		return replace(ctx, sets)
	}
	losses := map[string]string{}
	for _, s := range seen {
		losses[s.Node] = s.Loss
	}
	var errs []error
	for _, set := range sets {
		errs = append(errs, set.Fan.Trust(ctx, func(i int, loss string) bool {
			was, known := losses[set.Fan.Addr(i)]
			return len(seen) == 0 || known && was == loss
		})...)
	}
	s := ask(ctx, sets)
	for i, err := range errs {
		if err != nil && !s[i].Votes() {
			answers.Fail(&s[i], err)
		}
	}
	return s
}

// replace gives the configuration of a client to the hash slots of a Redis Cluster, and returns the states of its shards.
func replace(ctx context.Context, sets []inside.Set) []verdict.Answer {
	replaced, errs := make([]int, len(sets)), make([]error, len(sets))
	var wait sync.WaitGroup
	for i, s := range sets {
		wait.Go(func() { replaced[i], errs[i] = s.Fan.Replace(ctx) })
	}
	wait.Wait()
	all := ask(ctx, sets)
	for i := range all {
		switch {
		case all[i].Votes():
		case errs[i] != nil:
			answers.Fail(&all[i], errs[i])
		case replaced[i] == 0 && all[i].Err == nil:
			all[i].Err = errSharded
		}
	}
	return all
}
