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
