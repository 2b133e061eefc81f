package async

import (
	"sync"
	"time"
)

// Mailbox delivers items in order to one receiver that may be slow. At most room items wait. The items that
// are being delivered do not count. The mailbox drops further items. A Mailbox is safe for concurrent use.
type Mailbox[T any] struct {
	room   int
	to     func(T)
	missed func(n int) T

	mu      sync.Mutex
	todo    []T
	spare   []T           // an empty slice whose memory todo may use
	lost    int           // the number of items dropped since the last item of todo
	working bool          // a goroutine delivers items
	ended   bool          // the last item was added
	idle    chan struct{} // closed when no item is left; nil: nobody waits for that
}

const (
	// linger is a pause after each delivery. Without it a busy client starts a goroutine for nearly every item, which
	// costs more than the item.
	linger = time.Millisecond

	mostSpare = 1024 // the largest number of items for which a mailbox keeps memory
)

// NewMailbox returns a mailbox in which up to room items wait. It calls to with each item, on one goroutine, which
// exists only while there are items. missed makes the item that the receiver gets in place of n dropped ones.
func NewMailbox[T any](room int, to func(T), missed func(n int) T) *Mailbox[T] {
	return &Mailbox[T]{room: room, to: to, missed: missed}
}

// Put adds an item, and returns at once.
func (m *Mailbox[T]) Put(item T) { m.put(item, false) }

// PutLast adds the last item, also if the mailbox is full. The mailbox ignores later items.
func (m *Mailbox[T]) PutLast(item T) { m.put(item, true) }

func (m *Mailbox[T]) put(item T, last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	if m.ended = last; len(m.todo) >= m.room && !last {
		m.lost++
		return
	}
	m.gap()
	m.todo = append(m.todo, item)
	if !m.working {
		m.working = true
		go m.work()
	}
}

// Wait waits until no item is left, for at most d. It reports whether no item is left.
func (m *Mailbox[T]) Wait(d time.Duration) bool {
	m.mu.Lock()
	if !m.working {
		m.mu.Unlock()
		return true
	}
	if m.idle == nil {
		m.idle = make(chan struct{})
	}
	idle := m.idle
	m.mu.Unlock()
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-idle:
		return true
	case <-late.C:
		return false
	}
}

// work delivers all items. It takes all that wait at once, so that the receiver hardly competes for the lock.
func (m *Mailbox[T]) work() {
	for items := m.take(nil); len(items) > 0; items = m.take(items) {
		for _, item := range items {
			m.to(item)
		}
		time.Sleep(linger)
	}
}

// take returns the items that wait, or none: the goroutine then ends. The mailbox uses the memory of the delivered
// items again.
func (m *Mailbox[T]) take(delivered []T) []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	if clear(delivered); cap(delivered) <= mostSpare {
		m.spare = delivered[:0]
	}
	m.gap()
	items := m.todo
	m.todo, m.spare = m.spare, nil
	if len(items) == 0 {
		m.working = false
		if m.idle != nil {
			close(m.idle)
			m.idle = nil
		}
	}
	return items
}

// gap adds the item for dropped ones. The caller holds m.mu.
func (m *Mailbox[T]) gap() {
	if n := m.lost; n > 0 {
		m.lost = 0
		m.todo = append(m.todo, m.missed(n))
	}
}
