package values

import (
	"fmt"
	"strconv"
	"sync"
)

// judge knows the values that holders stored and saw. Values are numbers in the order in which their stores began; 0 is
// none.
type judge struct {
	mu     sync.Mutex
	last   int         // the number of the last store that began
	known  int         // the value that was last stored or seen
	dead   int         // no load may return a value up to this one, except known
	forgot map[int]int // for each node that lost its memory: the number of uses that had begun before
	begun  int
	broken string

	Loads, Stores, Failed, Nones int
}

// stores notes the beginning of a store, and returns its value.
func (j *judge) stores() (value, use int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	j.begun++
	return j.last, j.begun
}

// loads notes the beginning of a load.
func (j *judge) loads() (use int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun++
	return j.begun
}

// stored notes that a store returned nil.
func (j *judge) stored(value, use int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if value < j.known {
		j.breaks("the store of %d returned nil after %d was stored or seen", value, j.known)
	}
	j.known, j.dead = value, j.last
	j.Stores++
	j.used(use)
}

// loaded notes the result of a load.
func (j *judge) loaded(bytes []byte, use int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	value := 0
	if bytes != nil {
		value, _ = strconv.Atoi(string(bytes))
	} else {
		j.Nones++
	}
	if value != j.known && value <= j.dead {
		j.breaks("a load found %d; %d was stored or seen before, and values up to %d were passed over", value, j.known, j.dead)
	}
	j.known, j.dead = value, j.last
	j.Loads++
	j.used(use)
}

func (j *judge) failed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Failed++
}

// used notes the end of the use with this number. A majority has the value now, so earlier losses of memory no longer
// count.
func (j *judge) used(use int) {
	for node, before := range j.forgot {
		if before < use {
			delete(j.forgot, node)
		}
	}
}

// forget reports whether a node may lose its memory now, and notes it: a minority may, between two uses.
func (j *judge) forget(node, n int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, again := j.forgot[node]; !again && len(j.forgot) >= (n-1)/2 {
		return false
	}
	j.forgot[node] = j.begun
	return true
}

func (j *judge) breaks(format string, args ...any) {
	if j.broken == "" {
		j.broken = fmt.Sprintf(format, args...)
	}
}
