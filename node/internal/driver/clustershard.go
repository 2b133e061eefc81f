package driver

import (
	"cmp"
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Shard is one shard of a [Cluster]. It names the shard's master to its node.
type Shard struct {
	cluster *Cluster
	name    string
	addr    string
	node    node.Node

	// The mutex of the cluster guards these fields.
	master   member        // the last master that a majority named
	replicas []member      // its replicas
	slots    int           // the number of hash slots; 0: none, or no majority agreed on them in the last round
	left     clock.Instant // when it was last seen with hash slots, or as a spare master
	named    Named         // the last report to the node; its Addr is "" before the first one
	since    clock.Instant // when a majority first named the present master
	missed   bool          // the last round did not name the master
	turn     int           // see node.Shard
	spare    bool          // a majority lists its master, and the master has no hash slots
	firmed   clock.Instant // when spare became true, or the master was first heard
	epoch    uint64        // the highest config-epoch of the master in this turn
	data     string        // the replication id of the master in this turn; "": not known
	watchers map[*watcher]bool
}

type watcher struct {
	found func(Named)
	lost  func()
}

// noEpoch is the epoch of every master of a cluster. The config-epoch of a cluster says nothing about failovers: it also
// changes when hash slots move.
const noEpoch = "0000000000000000"

// Addr returns the address of the shard's node.
func (s *Shard) Addr() string { return s.addr }

// hear notes that a majority has named the shard's master. asked is an instant before the servers
// were asked, under a config-epoch. data is the replication id that the master told in this round, "" if it told none.
// The caller holds the mutex of the cluster.
func (s *Shard) hear(asked, now clock.Instant, epoch uint64, data string) {
	switch {
	case s.named.Addr != s.master.addr || s.since == 0:
		s.since = now
		s.ends(epoch, data)
	case asked.Sub(s.named.Asked) > node.NamedFor, s.changed(epoch, data):
		s.ends(epoch, data)
	default:
		s.epoch, s.data = max(s.epoch, epoch), cmp.Or(data, s.data)
	}
	s.missed = false
	s.named = Named{s.master.addr, noEpoch, now.Sub(s.since) >= stale, asked}
	for w := range s.watchers {
		w.found(s.named)
	}
}

// ends ends the turn, and begins the next one.
func (s *Shard) ends(epoch uint64, data string) {
	s.turn++
	s.epoch, s.data = epoch, data
}

// changed reports whether the master of this turn may have been a replica in between. Each failover raises the
// config-epoch, and each end of a time as a replica changes the replication id. A slot that moves to the shard may raise
// the epoch, too: then the replication id is the same.
func (s *Shard) changed(epoch uint64, data string) bool {
	if data != "" && s.data != "" {
		return data != s.data
	}
	return epoch > s.epoch
}

// lose notes a round in which no majority named the shard's master. One such round is common in a failover. Rounds may
// follow each other without a pause, so lose counts the time, and not the rounds. The caller holds the mutex of the
// cluster.
func (s *Shard) lose(now clock.Instant) {
	if s.missed = true; now.Sub(s.named.Asked) < 2*askEvery {
		return
	}
	for w := range s.watchers {
		w.lost()
	}
}

// Master implements [Naming]. It waits for the servers only if they did not name the master within [node.NamedFor].
func (s *Shard) Master(ctx context.Context, found func(Named)) error {
	if s.present(found) {
		return nil
	}
	if _, err := s.cluster.Look(ctx); err != nil {
		return err
	}
	if s.present(found) {
		return nil
	}
	return errors.New("no majority of the cluster's servers names a master for this shard; a failover may be under way, or its hash slots have moved")
}

// present calls found with the master and returns true if a majority named it in the last round, and within
// [node.NamedFor]. Otherwise it returns false.
func (s *Shard) present(found func(Named)) bool {
	s.cluster.run()
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if s.named.Addr == "" || s.missed || steady().Sub(s.named.Asked) > node.NamedFor {
		return false
	}
	found(s.named)
	return true
}

// Watch implements [Naming].
func (s *Shard) Watch(ctx context.Context, found func(Named), lost func()) {
	w := &watcher{found, lost}
	s.cluster.run()
	s.cluster.mu.Lock()
	if s.watchers == nil {
		s.watchers = map[*watcher]bool{}
	}
	s.watchers[w] = true
	s.cluster.mu.Unlock()
	<-ctx.Done()
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	delete(s.watchers, w)
}

// Close implements [Naming]. The connections belong to the cluster.
func (s *Shard) Close() {}

// Heard examines the error of a reply. If it says that a hash slot is elsewhere, the cluster looks again at once.
func (s *Shard) Heard(err error) {
	switch node.Code(err) {
	case node.Moved, node.Ask, node.ClusterDown, node.ReadOnly, node.MasterDown:
		s.cluster.poke()
	}
}
