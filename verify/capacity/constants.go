package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
)

// Constants are measured costs. CPU is in µs and memory in bytes. A cost without a remark is that of one piece of
// work.
type Constants struct {
	// CPU of a server.
	ServerIdle     float64 // each second, without clients
	ServerCycle    float64 // the lock and unlock of a free name
	ServerRenewal  float64
	ServerAsk      float64 // the question of a waiter
	ServerHandoff  float64 // the unlock of a wanted name, its message, and the lock of the next holder
	ServerBusOut   float64 // a hand-off, for each other server of the cluster
	ServerBusIn    float64 // a hand-off on another shard
	ServerWatch    float64 // each second for each client that uses the shard: INFO and PING
	ServerNodes    float64 // an answer to CLUSTER NODES
	ServerNodesPer float64 // the same, for each server that the answer lists
	ServerAdmit    float64 // the first use of a hash slot by a client

	// Memory of a server.
	MemoryEmpty  float64
	MemorySlot   float64 // the guard and the admission of a hash slot
	MemoryRecord float64 // a name that was used within the last two hours: see nodescript.RecordKept
	MemoryName   float64 // the same while it is held, in addition
	MemoryWaiter float64 // a place in a queue
	MemoryLink   float64 // a connection

	// Rates and numbers.
	Rounds        float64 // questions for the topology each second, of a client to each server that it asks
	Asks          float64 // questions of a waiter each second
	Watches       float64 // INFO and PING each second, of a client to each shard
	CycleCalls    float64 // messages of clients for a cycle
	HandoffCalls  float64 // messages of clients for a hand-off
	LinksPerShard float64 // connections of a client to a shard, without the subscription

	// CPU of a client. A process with little to do sleeps between messages, and to wake costs more than a message.
	ClientCycle   float64 // without waking, as a renewal and a question
	ClientRenewal float64
	ClientAsk     float64
	ClientHandoff float64 // with its wakings, at some thousand a second
	ClientWake    float64 // a message to a process that sleeps
	ClientWakes   float64 // the most wakings each second: messages that come together share one
	ClientProcess float64 // each second, for all clients of a process
	ClientIdle    float64 // each second, with its wakings
	ClientWatch   float64 // each second for each shard
	ClientAnswer  float64 // an answer to CLUSTER NODES
	ClientListed  float64 // the same, for each server that the answer lists
	ClientListed2 float64 // the same, for the square of that number

	// Memory of a client: live heap and stacks.
	ClientEmpty  float64
	ClientShard  float64 // for each shard that it uses
	ClientLease  float64
	ClientWaiter float64
}

// Measured is the content of measured.json.
type Measured struct {
	Date, Machine string
	Constants     Constants
	Checks        []Check
}

//go:embed measured.json
var stored []byte

// measured returns the last measurements that were written.
func measured() (m Measured, err error) {
	if err := json.Unmarshal(stored, &m); err != nil {
		return m, fmt.Errorf("measured.json: %w", err)
	}
	return m, nil
}

// each calls f for each cost, by its name.
func (k *Constants) each(f func(name string, value *float64)) {
	v := reflect.ValueOf(k).Elem()
	for i := range v.NumField() {
		f(v.Type().Field(i).Name, v.Field(i).Addr().Interface().(*float64))
	}
}
