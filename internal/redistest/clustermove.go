package redistest

import (
	"context"
	"errors"
	"fmt"
)

// Move moves a slot from one master to another, in the steps of redis-cli --cluster reshard. A test that stops between
// two steps leaves the slot half moved: the source answers ASK for the keys that it no longer has.
type Move struct {
	Slot     int
	From, To *Server
	// Replace makes the moved keys replace those of the target, as redis-cli --cluster fix does. Without it a key that
	// is on both servers is an error. This happens if a former move failed.
	Replace bool

	c *Cluster
}

// batch is the number of keys that a move transfers at once. redis-cli has 10.
const batch = 10

// MoveSlot moves a slot and its keys to another master. It does nothing if that master has the slot already.
func (c *Cluster) MoveSlot(ctx context.Context, slot int, to *Server) error {
	if c.MasterOf(slot) == to {
		return nil
	}
	m, err := c.BeginMove(ctx, slot, to)
	if err != nil {
		return err
	}
	return m.Finish(ctx)
}

// MoveSlots moves slots, one after the other. It stops at the first error.
func (c *Cluster) MoveSlots(ctx context.Context, slots []int, to *Server) error {
	for _, slot := range slots {
		if err := c.MoveSlot(ctx, slot, to); err != nil {
			return err
		}
	}
	return nil
}

// BeginMove makes the target import a slot and its master migrate it. No key moves yet. A move that was begun before may
// begin again.
func (c *Cluster) BeginMove(ctx context.Context, slot int, to *Server) (*Move, error) {
	m := &Move{Slot: slot, From: c.MasterOf(slot), To: to, c: c}
	switch m.From {
	case nil:
		return nil, fmt.Errorf("redistest: move: slot %d has no master that answers", slot)
	case to:
		return nil, fmt.Errorf("redistest: move: %s has slot %d already", to.Addr(), slot)
	}
	if err := m.set(ctx, to, "IMPORTING", c.ID(m.From)); err != nil {
		return nil, err
	}
	return m, m.set(ctx, m.From, "MIGRATING", c.ID(to))
}

// Keys transfers at most so many keys of the slot, and returns their number. It returns 0 if the source has none.
func (m *Move) Keys(ctx context.Context, most int) (int, error) {
	return m.transfer(ctx, m.From, m.To, most)
}

func (m *Move) transfer(ctx context.Context, from, to *Server, most int) (int, error) {
	reply, err := from.do(ctx, "CLUSTER", "GETKEYSINSLOT", m.Slot, most)
	keys, _ := reply.([]any)
	if err != nil || len(keys) == 0 {
		return 0, m.wrap(from, "GETKEYSINSLOT", err)
	}
	args := []any{"MIGRATE", "127.0.0.1", to.port, "", 0, (slow - slow/5).Milliseconds()}
	if m.Replace {
		args = append(args, "REPLACE")
	}
	if to.cfg.password != "" {
		args = append(args, "AUTH", to.cfg.password)
	}
	_, err = from.do(ctx, append(append(args, "KEYS"), keys...)...)
	return len(keys), m.wrap(from, "MIGRATE", err)
}

// Finish transfers all keys that are left, and gives the slot to the target: it tells the target, the source, and then
// the other masters that answer.
func (m *Move) Finish(ctx context.Context) error {
	for {
		if n, err := m.Keys(ctx, batch); err != nil {
			return err
		} else if n == 0 {
			break
		}
	}
	id := m.c.ID(m.To)
	if err := m.set(ctx, m.To, "NODE", id); err != nil {
		return err
	}
	// The source becomes a replica of the target with its last slot, and then refuses the command.
	if err := m.set(ctx, m.From, "NODE", id); err != nil && m.From.Role() != "slave" {
		return err
	}
	var errs []error
	for _, shard := range m.c.Shards() {
		if s := shard.Master; s != m.From && s != m.To {
			errs = append(errs, m.set(ctx, s, "NODE", id))
		}
	}
	return errors.Join(errs...)
}

// Cancel ends the move (SETSLOT STABLE) and brings the keys back to the source. Until they are back, the source answers
// as if they did not exist: it takes no key back as long as it migrates the slot.
func (m *Move) Cancel(ctx context.Context) error {
	if err := m.set(ctx, m.From, "STABLE"); err != nil {
		return err
	}
	for {
		if n, err := m.transfer(ctx, m.To, m.From, batch); err != nil {
			return err
		} else if n == 0 {
			return m.set(ctx, m.To, "STABLE")
		}
	}
}

// set sends CLUSTER SETSLOT to one server.
func (m *Move) set(ctx context.Context, s *Server, state ...any) error {
	_, err := s.do(ctx, append([]any{"CLUSTER", "SETSLOT", m.Slot}, state...)...)
	return m.wrap(s, fmt.Sprint("SETSLOT ", state[0]), err)
}

func (m *Move) wrap(s *Server, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redistest: move slot %d: %s on %s: %w", m.Slot, what, s.Addr(), err)
}
