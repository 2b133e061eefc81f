//go:build linux || darwin || freebsd || openbsd || netbsd

package redistest

import "testing"

func TestNoPortIsHandedOutTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 500 {
		port := freePort()
		if seen[port] {
			t.Fatalf("port %d was handed out before: whoever still calls a killed server there reaches a stranger", port)
		}
		seen[port] = true
	}
}

// Two test processes run at the same time. A killed server of one process must not lose its port to the other.
func TestTwoProcessesHaveDifferentPorts(t *testing.T) {
	dir, seen := t.TempDir(), map[int]int{}
	processes := []*ports{{dir: dir}, {dir: dir}, {dir: dir}}
	for range 1500 {
		for i, p := range processes {
			port := p.next()
			if other, ok := seen[port]; ok {
				t.Fatalf("process %d got port %d, which process %d had got", i, port, other)
			}
			seen[port] = i
		}
	}
}

// A process that needs more ports than there are uses its own ports again.
func TestAProcessUsesItsPortsAgain(t *testing.T) {
	dir := t.TempDir()
	p, other := &ports{dir: dir}, &ports{dir: dir}
	theirs := other.next()
	for range 2 * blocks * blockSize {
		if port := p.next(); port/blockSize == theirs/blockSize {
			t.Fatalf("port %d is in a block of another process", port)
		}
	}
}
