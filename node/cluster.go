package node

import (
	"context"
	"errors"
	"strings"
)

// Slots is the number of hash slots of a Redis Cluster.
const Slots = 16384

// Cluster is a Redis Cluster, as the only [Node] of a client. It leads each hash slot to the shard that has it: one master
// with its replicas. A driver makes it, and follows the topology. It is safe for concurrent use.
//
// A client uses the nodes of the shards. The calls of the cluster itself go to the shard that has the hash slot of the
// last key, or to any shard if they have no keys. Close also closes the nodes of the shards.
type Cluster interface {
	Replicated

	// Topology returns the last topology that a majority of the servers confirmed, or nil before the first one. It does
	// not use the network.
	Topology() *Topology

	// Look asks the servers for the topology, and waits for an answer of a majority that was asked after Look began. It
	// returns the topology. If no majority answers, or ctx ends first, it returns an error.
	Look(ctx context.Context) (*Topology, error)
}

// Topology is a map from hash slots to shards. It does not change.
type Topology struct {
	Shards []*Shard
	// Former has the nodes of shards that have lost all of their hash slots lately. Such a shard may get some again, and
	// then keeps its node. The driver closes a node that is neither here nor in Shards any more.
	Former []Node
	// Owner has for each hash slot the index in Shards of the shard that has it, or -1 if no majority of the servers
	// names one.
	Owner [Slots]int16
	// Servers is the number of servers that the cluster has, and Answered of them have answered the last question.
	// Large clusters ask a part of their servers only: Asked.
	Servers, Asked, Answered int

	// Spare has the masters without hash slots that a majority of the servers lists as working masters.
	Spare []Spare
}

// Spare is a master of a Redis Cluster without hash slots. It may have had some before.
type Spare struct {
	*Shard      // Slots is 0
	Firm   bool // a majority has listed the master without a gap for long enough: it is no former master that lives on
}

// Shard is one master of a Redis Cluster, with its replicas.
type Shard struct {
	// Name identifies the shard for as long as the cluster has it: the id of the server that was its master when the
	// driver first met it.
	Name string

	// Node leads to the present master. It is the same Node in every Topology. It sends a call with EvalSHA only if a
	// majority of the servers has confirmed within [NamedFor] that this master has the hash slot of the call's keys. It
	// implements Replicated, Configured and Commander.
	Node Node

	Master   ClusterServer
	Replicas []ClusterServer
	Slots    int // the number of hash slots

	// Turn grows when another master may have had the hash slots meanwhile: the master changed, no majority has confirmed
	// it for longer than NamedFor, or it was a replica in between.
	Turn int
}

// ClusterServer is one server of a Redis Cluster.
type ClusterServer struct {
	ID    string // the id of the server in the cluster (CLUSTER MYID)
	Addr  string // host:port
	State string // "" if it works, else what a majority of the servers calls it, such as Fail or fail?
}

// Fail is the state of a server that a majority of the masters calls failed.
const Fail = "fail"

// Errors of [Cluster.Look] that say what is wrong with the list of servers, or with a server in it.
var (
	ErrNoCluster   = errors.New("a server runs without cluster-enabled")
	ErrTwoClusters = errors.New("the list has servers of two clusters")
	ErrAnnounced   = errors.New("a server announces an address that cannot be reached")
)

// ErrNoSlots is the error of a call to a Redis Cluster if a majority of the servers agrees that none of them has hash
// slots. [Cluster.Look] is no such call: it returns a Topology without shards.
var ErrNoSlots = errors.New("no server of the cluster has hash slots; redis-cli --cluster fix HOST:PORT gives them to a server")

// Codes of the answers of a Redis Cluster that say where a key is, or that a call must be repeated. A driver returns
// them like any other error of the server, and follows no redirection.
const (
	Moved       = "MOVED"       // another shard has the hash slot
	Ask         = "ASK"         // the hash slot is being moved, and this key has left this shard
	TryAgain    = "TRYAGAIN"    // the hash slot is being moved, and only some keys of the call have left this shard
	ClusterDown = "CLUSTERDOWN" // the shard, or the cluster, is down
	CrossSlot   = "CROSSSLOT"   // the keys of a call belong to several hash slots
)

// SlotOf returns the hash slot of a key: CRC16 (XMODEM) of its tag, or of the whole key, modulo [Slots]. The tag is the
// text between the first { and the first } after it, if there is any.
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
func SlotOf(key string) int {
	if _, after, ok := strings.Cut(key, "{"); ok {
		if end := strings.IndexByte(after, '}'); end > 0 {
			key = after[:end]
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return int(crc % Slots)
}

// crcTable has the CRC16 of each byte, with the polynomial 0x1021.
var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[i] = crc
	}
	return t
}()
