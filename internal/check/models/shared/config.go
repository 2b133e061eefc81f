package shared

// Config is one configuration of the model: the number of everything.
type Config struct {
	Writers, Readers int     // attempts, together at most 3
	Stamps           int     // stamps in the model, at most 3; two owners may draw the same stamp
	Rounds           int     // stamps of one owner; 0 means 1
	Timely           bool    // a grant expires on a node only when its owner relies on it no longer
	GiveBack         bool    // an owner gives back a partial grant and continues with a higher stamp
	HandOffs         bool    // nodes hand the free name to any owner that asked: a claim
	Passes           bool    // a lease is passed to another owner in the process; to a reader, that is also a downgrade
	Sweeps           bool    // a reader's acquire may remove dead entries of other readers
	AnyClock         bool    // a node's clock may be so far behind that it limits a tombstone
	Wipes            int     // how often a node loses its memory
	Without          Rule    // the rule that is left out
	Ask              Promise // the only promise to check; the zero value means all
}

// Rule is one rule of the protocol that a configuration can leave out. The scripts are in internal/core/nodescript/lua.
// The rules between writers are those of the token model.
type Rule uint8

// These are the rules.
const (
	None              Rule = iota
	WritersSeeReaders      // acquire.lua: a live reader refuses it
	ReadersSeeWriters      // acquire-shared.lua: a live writer refuses it
	AboveReaders           // acquire.lua: T <= rseen is refused
	AboveWriters           // acquire-shared.lua: T <= seen is refused
	AboveOwn               // acquire-shared.lua: T must exceed the T of the owner's own entry
	GrantsAreRead          // acquire-shared.lua: a grant raises rseen to T
	ClaimIsNoGrant         // acquire-shared.lua: G again only if the entry's own T is the stamp
	PassNamesOwner         // acquire-shared.lua: only the named writer is passed over
	DeadWriterGoes         // acquire-shared.lua: a grant removes the expired writer
	DeadWriterLeased       // acquire-shared.lua, extend-shared.lua: a displaced writer may have had a lease
	DeadReadersGo          // acquire.lua, extend.lua: a grant removes expired readers
	DeadReadersLeased      // acquire.lua, extend.lua: displaced readers may have had leases
	ExtendNamesToken       // extend-shared.lua: E only if the entry's own T is the lease's; a claim has none
	RepairSeesWriters      // extend-shared.lua: no repair beside a live writer
	RepairLeased           // extend-shared.lua: no repair if a later writer may have had a lease
	RepairFresh            // extend-shared.lua: no repair for a stamp that a tombstone covers
	RepairSeesReaders      // extend.lua: no repair beside a live reader
	RepairRLeased          // extend.lua: no repair if a later reader may have had a lease
	ReadersEnd             // release-shared.lua: the lease of a reader ends earlier leases of writers
	Tombstone              // release-shared.lua: seen rises above the released stamps
	OwnTombstone           // release-shared.lua: also above this node's own grant, whatever its clock
	ReleaseCovered         // release-shared.lua: only an entry with a T that it covers
	ReleaseOwnOnly         // release-shared.lua: other entries stay, also if they seem dead
	ForgetByLease          // release.lua: only a lease, and no abort, ends the memory of readers
	MoreThanHalf           // quorum/validity.go: N/2 + 1
)

// Model is the model of one configuration.
type Model struct{ Config }

// keeps reports whether a rule is in force.
func (m Model) keeps(r Rule) bool { return m.Without != r }

// reader reports whether an owner is a reader.
func (m Model) reader(i int) bool { return i >= m.Writers }

// owners returns the number of owners.
func (m Model) owners() int { return m.Writers + m.Readers }

// need returns the number of nodes that decide.
func (m Model) need() int {
	if m.keeps(MoreThanHalf) {
		return majority
	}
	return nodes / 2
}

// Initial implements [explore.Model]: the nodes are empty, and no owner has asked yet.
func (m Model) Initial() State { return State{} }
