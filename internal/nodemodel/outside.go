package nodemodel

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// SetNX does SET key text NX PX, as a foreign Redlock client does.
func (n *Node) SetNX(key, text string, ttl time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	if _, there := n.keys[key]; there {
		return false
	}
	n.setText(key, text, ttl.Milliseconds())
	return true
}

// Set does SET key text PX, without PX if ttl is 0.
func (n *Node) Set(key, text string, ttl time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setText(key, text, ttl.Milliseconds())
	if ttl == 0 {
		n.keys[key].expires = 0
	}
}

// Del does DEL key.
func (n *Node) Del(key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	_, there := n.keys[key]
	delete(n.keys, key)
	return there
}

// CompareAndDelete deletes key if it holds text, as foreign Redlock clients do to release.
func (n *Node) CompareAndDelete(key, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	v, there := n.keys[key]
	if !there || v.hash != nil || v.queue != nil || v.text != text {
		return false
	}
	delete(n.keys, key)
	return true
}

// ZAdd does ZADD NX, without a time to live. The error is WRONGTYPE if the key holds no queue.
func (n *Node) ZAdd(key string, ticket int64, owner string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	return n.join(key, nodescript.Micros(ticket), owner)
}

// HSet does HSET key field text, as Redisson stores its locks. It reports false if the key holds another type.
func (n *Node) HSet(key, field, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	if v, there := n.keys[key]; there && v.hash == nil {
		return false
	}
	n.setFields(key, map[string]string{field: text})
	return true
}

// Serve makes a node vote at its first request. This is safe because nobody has had a lock on the node. Its memory is
// old: it remembers that no name has a value.
func (n *Node) Serve() { n.ServeSince(0) }

// ServeSince does the same as Serve. The node's memory began at this instant, in µs of its clock.
func (n *Node) ServeSince(began int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setFields(nodescript.AdmissionKey, nodescript.Served(n.Info.Run, began))
}

// FlushAll does FLUSHALL: all keys are deleted, and the scripts stay.
func (n *Node) FlushAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Info.Ran = true
	clear(n.keys)
}

// Evict deletes the keys that which selects, and counts them. A server does this if its memory is full and its policy
// allows it.
func (n *Node) Evict(which func(key string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(n.keys)) {
		if which(k) {
			delete(n.keys, k)
			n.Info.Evicted++
		}
	}
}

// EvictedKeys returns evicted_keys of INFO.
func (n *Node) EvictedKeys() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Info.Evicted
}

// Fill sets whether the memory is full.
func (n *Node) Fill(full bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Full = full
}

// ScriptFlush does SCRIPT FLUSH.
func (n *Node) ScriptFlush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.loaded)
}

// Restart begins a new incarnation. The node forgets the scripts. It also forgets the keys, unless they were on disk.
func (n *Node) Restart(run, replid string, keepsData bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disconnect()
	kept := n.keys
	n.forget()
	if keepsData {
		n.keys = kept
	}
	n.Info.Run, n.Info.ReplID, n.Info.ReplID2, n.Info.Evicted = run, replid, "", 0
	n.Info.Followed, n.Info.Ran = false, false
	n.Info.Booted = floorDiv(floorDiv(n.Clock()))
	n.runs = append(n.runs, run)
}

// Key is one key, in the form in which a test compares it with a server's key.
type Key struct {
	Name, Text string
	Fields     []string // if the key is a hash: fields and texts in turn, sorted by field; otherwise nil
	Waiting    []string // if the key is a queue: owners and tickets in turn, in the order of the queue; otherwise nil
	Expires    int64    // ms since the epoch; -1 = never
}

// Queue returns the owners in a queue, in order.
func (n *Node) Queue(key string) (owners []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	all, _ := n.queue(key) // another type: nobody waits
	for _, w := range all {
		owners = append(owners, w.owner)
	}
	return owners
}

// Keys returns all keys, sorted.
func (n *Node) Keys() []Key {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep()
	keys := make([]Key, 0, len(n.keys))
	for _, name := range slices.Sorted(maps.Keys(n.keys)) {
		v := n.keys[name]
		k := Key{Name: name, Text: v.text, Expires: v.expires}
		if v.expires == 0 {
			k.Expires = -1
		}
		for _, f := range slices.Sorted(maps.Keys(v.hash)) {
			k.Fields = append(k.Fields, f, v.hash[f])
		}
		for _, w := range v.queue {
			k.Waiting = append(k.Waiting, w.owner, strconv.FormatInt(w.ticket, 10))
		}
		keys = append(keys, k)
	}
	return keys
}
