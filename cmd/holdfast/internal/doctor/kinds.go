package doctor

import (
	"github.com/holdfast-go/holdfast/admin"
)

// mostKept is the largest number of names whose use the doctor remembers.
const mostKept = 100_000

// uses remembers whether a name is used for a lock, for a semaphore, or for both.
type uses map[string]use

type use struct{ lock, slots, told bool }

// both adds an item of a list. It returns true once for each name that is used for a lock and for a semaphore.
func (u uses) both(s *admin.NameStatus) bool {
	one, known := u[s.Name]
	if !known && len(u) >= mostKept {
		return false
	}
	if s.Slot < 0 {
		one.lock = true
	} else {
		one.slots = true
	}
	found := one.lock && one.slots && !one.told
	one.told = one.told || found
	u[s.Name] = one
	return found
}
