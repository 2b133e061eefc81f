package hashslots

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

var small = Config{Masters: 2, Replicas: 1, TTL: 3, Margin: 2, Named: 3, Moves: 1, Promotions: 1, All: 2}

func (c Config) but(change func(c *Config)) Config {
	change(&c)
	return c
}

func TestTry(t *testing.T) {
	explore.Holds[State](t, "try: built, one move, one promotion", Model{small.but(func(c *Config) { c.Without = AsBuilt })})
	explore.Holds[State](t, "try: mended", Model{small})
}
