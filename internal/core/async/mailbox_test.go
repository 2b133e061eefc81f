package async

import (
	"slices"
	"testing"
)

// box returns a mailbox whose receiver waits in its first item until the test calls goOn.
func box(room int) (m *Mailbox[int], got *[]int, goOn func()) {
	begun, end, got := make(chan struct{}), make(chan struct{}), new([]int)
	m = NewMailbox(room, func(i int) {
		if i == 0 {
			close(begun)
			<-end
			return
		}
		*got = append(*got, i)
	}, func(n int) int { return -n })
	m.Put(0)
	<-begun
	return m, got, func() { close(end) }
}

func TestAMailboxDeliversInOrder(t *testing.T) {
	m, got, goOn := box(100)
	var want []int
	for i := 1; i <= 100; i++ {
		m.Put(i)
		want = append(want, i)
	}
	goOn()
	if !m.Wait(Forever) || !slices.Equal(*got, want) {
		t.Errorf("got %d, want %d", *got, want)
	}
}

func TestASlowReceiverIsToldHowManyItemsItMissed(t *testing.T) {
	m, got, goOn := box(2)
	for i := 1; i <= 5; i++ {
		m.Put(i)
	}
	goOn()
	m.Wait(Forever)
	if want := []int{1, 2, -3}; !slices.Equal(*got, want) {
		t.Errorf("got %d, want %d", *got, want)
	}
	m.Put(6)
	m.Wait(Forever)
	if want := []int{1, 2, -3, 6}; !slices.Equal(*got, want) {
		t.Errorf("after the gap got %d, want %d", *got, want)
	}
}

func TestNobodyWaitsForAReceiverForLongerThanAllowed(t *testing.T) {
	m, _, goOn := box(2)
	defer goOn()
	if m.Wait(1) {
		t.Error("Wait reports that the receiver is idle")
	}
}
