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
	Quiet   int8 // the rest of a quarantine
	Run     int8 // the incarnation that wrote the guard and the admission; 0: none
	Guard   bool // the guard exists
	Kept    bool // the key kept exists
	Idle    bool // the guard was not refreshed for an hour
	Data    int8 // the noted replication id
	Evicted int8 // the noted number of evictions
	Record  bool // the name has a record
	Holder  int8 // the client with a lease, counted from 1; 0: none
	Lease   int8 // the rest of that lease
	Seen    int8 // the age of the highest token, at most W + 1
	Torn    bool // nothing that a server knows: the data came by a restart or a promotion
}

// Server is a server of the cluster.
type Server struct {
	Run     int8
	Data    int8 // the replication id
	Second  int8 // the second replication id; 0: none
	Evicted int8 // the number of evictions since the start
	Reign   int8 // the time since the start or the promotion, at most a quarantine
	Of      int8 // the master of a replica; -1: a master
	Named   bool // a majority names it as a master
	Owns    bool // it believes that it has the slot
	Synced  bool // a replica has data of its master
	Slot    Slot
	Saved   Slot // what it finds if it restarts with old data
}

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
	Relies int8 // the rest of the time for which it relies on the name
	Call   Call
	Proof  Proof
}

// Left counts what may still happen.
type Left struct{ Moves, Forces, Promotions, Returns, Restarts, Evictions, Leaps, All, Hours int8 }

// State is a state.
type State struct {
	Owner   int8 // the server that a majority names for the slot
	Fresh   int8 // the last run id or replication id that was given
	Last    int8 // the age of the token of the last lease, at most W + 1
	Left    Left
	Servers [most]Server
	Clients [2]Client
}

// Initial returns the first state: the first master has the slot and votes.
func (m Model) Initial() (s State) {
	for i := range m.Masters {
		s.Fresh++
		s.Servers[i] = Server{Run: s.Fresh, Data: s.Fresh, Of: -1, Named: true, Reign: m.quarantine()}
	}
	s.Servers[0].Owns = true
	s.Servers[0].Slot = Slot{Phase: Votes, Run: 1, Guard: true, Kept: true, Data: 1, Seen: m.Window + 1}
	s.Servers[0].Saved = s.Servers[0].Slot
	for i := range m.Replicas {
		s.Fresh++
		r := s.Servers[i]
		r.Run, r.Of, r.Named, r.Owns, r.Synced = s.Fresh, i, false, false, true
		s.Servers[m.Masters+i] = r
	}
	s.Last = m.Window + 1
	for c := range s.Clients {
		s.Clients[c] = Client{View: -1}
	}
	s.Left = Left{m.Moves, m.Forces, m.Promotions, m.Returns, m.Restarts, m.Evictions, m.Leaps, m.All, m.Hours}
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
		if v.Of >= 0 && s.Left.Promotions == 0 {
			*v = Server{Of: v.Of}
		}
	}
	if a, b := &s.Clients[0], &s.Clients[1]; less(*b, *a) || *a == *b && s.firstHolder() == 2 {
		*a, *b = *b, *a
		for i := range s.Servers {
			for _, slot := range []*Slot{&s.Servers[i].Slot, &s.Servers[i].Saved} {
				if slot.Holder > 0 {
					slot.Holder = 3 - slot.Holder
				}
			}
		}
	}
	return s
}

// firstHolder returns the first client that is a holder somewhere, 0 if there is none.
func (s *State) firstHolder() int8 {
	for i := range s.Servers {
		for _, slot := range []*Slot{&s.Servers[i].Slot, &s.Servers[i].Saved} {
			if slot.Holder > 0 {
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

func (c Client) numbers() [12]int8 {
	copied := int8(0)
	if c.Proof.Copied {
		copied = 1
	}
	return [...]int8{c.Relies, c.View, c.Age, int8(c.Call.Kind), c.Call.To, c.Call.Age,
		c.Proof.Run, c.Proof.Data, c.Proof.Evicted, copied, c.Proof.Clock, c.Proof.Age}
}
