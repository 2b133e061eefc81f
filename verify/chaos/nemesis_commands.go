//go:build linux

package chaos

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// commandKinds are faults of single commands. Other commands on the same connection pass.

var commandKinds = []kind{
	{name: "commands delayed", begin: onNetwork(treated(func(r *rand.Rand) redistest.Treatment {
		return redistest.Treatment{Delay: between(r, 0, []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, 2500 * time.Millisecond}[r.IntN(3)])}
	}))},
	{name: "commands sent twice", begin: onNetwork(treated(func(r *rand.Rand) redistest.Treatment {
		return redistest.Treatment{Copies: []time.Duration{0, between(r, 0, []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, 4 * time.Second}[r.IntN(3)])}}
	}))},
	{name: "commands overtaken", begin: onNetwork(treated(func(r *rand.Rand) redistest.Treatment {
		return redistest.Treatment{Overtaken: 1 + r.IntN(20), Delay: between(r, 0, 500*time.Millisecond)}
	}))},
}

// treated treats one in four of the locks' commands. It does not treat the commands that open a connection, because a
// fault there only makes the connection slow.
func treated(f func(*rand.Rand) redistest.Treatment) func(*rand.Rand, *redistest.Proxy) bool {
	return func(r *rand.Rand, p *redistest.Proxy) bool {
		// The treatment has its own generator, because the proxy calls it at any time.
		own, took := rand.New(rand.NewPCG(r.Uint64(), 0)), false
		p.Treat(func(command []string) redistest.Treatment {
			if len(command) == 0 || own.IntN(4) > 0 {
				return redistest.Treatment{}
			}
			switch strings.ToUpper(command[0]) {
			case "EVALSHA", "SET":
				took = true
				return f(own)
			}
			return redistest.Treatment{}
		})
		time.Sleep(between(r, 500*time.Millisecond, 4*time.Second))
		p.Treat(nil) // after this call nothing writes took
		return took
	}
}
