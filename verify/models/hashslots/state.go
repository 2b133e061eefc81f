package hashslots

// most is the largest number of servers.
const most = 6

// Phase is the phase of the admission of the slot on a server.
type Phase uint8

// These are the phases.
const (
	Unknown Phase = iota // no record of an admission
	Votes
	Asks       // the memory is lost, and the challenge was not quoted yet
	Quarantine // begun
)

// Slot is the content of the hash slot on a server. Its times are the times that are left by the clock of this server.
type Slot struct {
	Phase   Phase
	Quiet   int8    // the rest of a quarantine
	Run     int8    // the incarnation that wrote the guard and the admission; 0: none
	Guard   bool    // the guard exists
	Kept    bool    // the key kept exists
	Idle    bool    // the guard was not refreshed for an hour
	Data    int8    // the noted replication id
	Evicted int8    // the noted number of evictions
	Record  bool    // the name has a record
	Holder  int8    // the client with a lease, counted from 1; 0: none; 3: a lease that its client does not know any more
	Lease   int8    // the rest of that lease
	Seen    int8    // the age of the highest token, at most W + 1
	Came    int8    // the rest of the time for which the slot counts as come lately, and 2 W more
	Settled bool    // it came to a settled server
	Apart   int8    // how far the clocks were apart in the moves before
	Fed     int8    // the noted Server.Fed
	Over    [2]bool // the record knows that the lease of a client is over, or has a later one
	Torn    bool    // nothing that a server knows: the data came by a restart or a promotion
	Lacks   bool    // nor this: the record has stayed behind
}

// Server is a server of the cluster.
type Server struct {
	Run     int8
	Data    int8 // the replication id
	Second  int8 // the second replication id; 0: none
	Evicted int8 // the number of evictions since the start
	Fed     int8 // what it has read from a master: another number after each time as a replica; 0: nothing
	Young   bool // it has started with data, or was promoted, less than a quarantine ago
	Up      int8 // the time since then
	Away    int8 // the time since another server became the master in its place, at most P + W + 1
	Of      int8 // the master of a replica; -1: a master
	Named   bool // a majority names it as a master
	Owns    bool // it believes that it has the slot
	Synced  bool // a replica has data of its master
	Slot    Slot
	Saved   Slot // what it finds if it restarts with old data
}

func (v *Server) copies() [2]*Slot { return [...]*Slot{&v.Slot, &v.Saved} }

// Proof is what a client has learned about a server.
type Proof struct {
	Run, Data, Evicted int8
	Copied             bool
	Clock              int8 // by how much the clock of that server is ahead
	Age                int8
}

// Call is a call on its way.
type Call struct {
	Kind Kind
	To   int8
	Age  int8
	Last int8 // the time until the deadline of a renewed lease + W
}

// Kind is the kind of a call.
type Kind uint8

// These are the kinds.
const (
	None Kind = iota
	Acquire
	Renew
)

// Client is a client.
type Client struct {
	View   int8 // the server that a majority named; -1: none
	Age    int8 // the time since it asked
	Asked  int8 // the servers that have admitted the slot in this turn, one bit each
	Relies int8 // the rest of the time for which it relies on the name
	Token  int8 // the age of the token of its lease, at most W + 1
	Call   Call
	Proof  Proof
}

// Left counts what may still happen.
type Left struct{ Moves, Forces, Promotions, Returns, Clears, Restarts, Evictions, Leaps, All, Hours int8 }

// State is a state.
type State struct {
	Owner   int8 // the server that a majority names for the slot
	Fresh   int8 // the last run id or replication id that was given
	Last    int8 // the age of the token of the last lease, at most W + 1
	Left    Left
	Servers [most]Server
	Clients [2]Client
}

// Initial returns the first state: one master has the slot and votes.
func (m Model) Initial() (s State) {
	for i := range m.Masters {
		s.Fresh++
		s.Servers[i] = Server{Run: s.Fresh, Data: s.Fresh, Of: -1, Named: true}
	}
	s.Owner = m.First
	owner := &s.Servers[m.First]
	owner.Owns = true
	owner.Slot = Slot{Phase: Votes, Run: owner.Run, Guard: true, Kept: true, Data: owner.Data, Seen: m.Window + 1}
	owner.Saved = owner.Slot
	for i := range m.Replicas {
		s.Fresh++
		r := s.Servers[i]
		r.Run, r.Of, r.Named, r.Owns, r.Synced, r.Away = s.Fresh, i, false, false, true, m.Named+m.Window+1
		s.Servers[m.Masters+i] = r
	}
	s.Last = m.Window + 1
	for c := range s.Clients {
		s.Clients[c] = Client{View: -1}
	}
	s.Left = Left{m.Moves, m.Forces, m.Promotions, m.Returns, m.Clears, m.Restarts, m.Evictions, m.Leaps, m.All, m.Hours}
	return s
}

// Canonical implements [explore.Model]. It forgets what cannot matter any more, and orders the clients.
func (m Model) Canonical(s State) State {
	if s.Left.All == 0 {
		s.Left = Left{Hours: s.Left.Hours}
	}
	for i := range s.Servers {
		v := &s.Servers[i]
		if s.Left.Restarts == 0 {
			v.Saved = Slot{}
		}
		if s.Left.Promotions == 0 || v.Of < 0 && v.Named {
			v.Away = 0
		}
		m.tidy(&s, &v.Slot)
		m.tidy(&s, &v.Saved)
		if v.Of >= 0 && s.Left.Promotions == 0 {
			*v = Server{Of: v.Of}
		}
	}
	if a, b := &s.Clients[0], &s.Clients[1]; less(*b, *a) || *a == *b && s.firstHolder() == 2 {
		*a, *b = *b, *a
		for i := range s.Servers {
			for _, slot := range s.Servers[i].copies() {
				if slot.Holder == 1 || slot.Holder == 2 {
					slot.Holder = 3 - slot.Holder
				}
				slot.Over[0], slot.Over[1] = slot.Over[1], slot.Over[0]
			}
		}
	}
	return s
}

// tidy forgets what a copy of the slot knows about leases that are over.
func (m Model) tidy(s *State, slot *Slot) {
	for c := range s.Clients {
		if a := &s.Clients[c]; a.Relies == 0 && a.Call.Kind != Renew {
			if slot.Over[c] = false; slot.Holder == int8(c)+1 {
				slot.Holder = 3
			}
		}
	}
	if slot.Holder == 3 && slot.Lease == 0 {
		slot.Holder = 0
	}
	if slot.Came == 0 {
		slot.Settled, slot.Apart = false, 0
	}
}

// firstHolder returns the first client that is a holder somewhere, 0 if there is none.
func (s *State) firstHolder() int8 {
	for i := range s.Servers {
		for _, slot := range s.Servers[i].copies() {
			if slot.Holder == 1 || slot.Holder == 2 {
				return slot.Holder
			}
		}
	}
	return 0
}

// less is an order of clients.
func less(a, b Client) bool {
	x, y := a.numbers(), b.numbers()
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

func (c Client) numbers() [15]int8 {
	copied := int8(0)
	if c.Proof.Copied {
		copied = 1
	}
	return [...]int8{c.Relies, c.View, c.Age, int8(c.Call.Kind), c.Call.To, c.Call.Age, c.Call.Last, c.Asked, c.Token,
		c.Proof.Run, c.Proof.Data, c.Proof.Evicted, copied, c.Proof.Clock, c.Proof.Age}
}
