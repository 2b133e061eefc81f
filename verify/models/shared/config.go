package shared

// Config is one configuration of the model: its size, and the rules that it contains.
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
	WritersSeeReaders      // acquire.lua: a node refuses a writer while it has a live reader
	ReadersSeeWriters      // acquire-shared.lua: a node refuses a reader while it has a live writer
	AboveReaders           // acquire.lua: a node refuses a writer whose stamp is not above rseen
	AboveWriters           // acquire-shared.lua: a node refuses a reader whose stamp is not above seen
	AboveOwn               // acquire-shared.lua: the stamp of a reader must be above the token of its owner's own entry
	GrantsAreRead          // acquire-shared.lua: a grant raises rseen to its stamp
	ClaimIsNoGrant         // acquire-shared.lua: a node repeats a grant only if the token of the entry is the stamp; a claim has no token
	PassNamesOwner         // acquire-shared.lua: a pass replaces only the writer that it names
	DeadWriterGoes         // acquire-shared.lua: a grant removes the expired writer
	DeadWriterLeased       // acquire-shared.lua, extend-shared.lua: if a reader replaces an expired writer, the writer's token counts for leased
	DeadReadersGo          // acquire.lua, extend.lua: a grant removes expired readers
	DeadReadersLeased      // acquire.lua, extend.lua: readers that a writer replaces may have had leases
	ExtendNamesToken       // extend-shared.lua: a node extends an entry only if its token is that of the lease; a claim has no token
	RepairSeesWriters      // extend-shared.lua: no repair beside a live writer
	RepairLeased           // extend-shared.lua: no repair if a later writer may have had a lease
	RepairFresh            // extend-shared.lua: no repair for a stamp that is not above a tombstone
	RepairSeesReaders      // extend.lua: no repair beside a live reader
	RepairRLeased          // extend.lua: no repair if a later reader may have had a lease
	ReadersEnd             // release-shared.lua: the lease of a reader ends earlier leases of writers
	Tombstone              // release-shared.lua: a release raises seen above its stamps
	OwnTombstone           // release-shared.lua: a release also raises seen above this node's grant, even if the node's clock is behind
	ReleaseCovered         // release-shared.lua: a release removes an entry only if its token is not above the stamp of the release
	ReleaseOwnOnly         // release-shared.lua: other entries stay, even if they seem dead
	ForgetByLease          // release.lua: only the release of a lease ends the memory of readers, and not the release of a failed attempt
	MoreThanHalf           // quorum/validity.go: a majority is N/2 + 1 nodes
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
