package ui

import (
	"errors"
	"testing"
)

func TestOtherAddressesNeedTLSAndAToken(t *testing.T) {
	for addr, loopback := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true, "127.1.2.3:0": true, ":0": false, "0.0.0.0:0": false, "[::]:0": false,
	} {
		for _, safe := range []bool{false, true} {
			l, local, err := Listen(addr, safe)
			if l != nil {
				_ = l.Close()
			}
			switch {
			case loopback || safe:
				if err != nil || local != loopback {
					t.Errorf("%s, safe %t: local %t, %v", addr, safe, local, err)
				}
			case !errors.Is(err, ErrOpen) || l != nil:
				t.Errorf("%s, not safe: %v, %v", addr, l, err)
			}
		}
	}
	for _, addr := range []string{"", "7390", "localhost:x", "127.0.0.1:99999", "no such host:1"} {
		if l, _, err := Listen(addr, false); err == nil {
			_ = l.Close()
			t.Errorf("%q is listened to", addr)
		}
	}
}
