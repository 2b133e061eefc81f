package hashslots

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

func TestHoles(t *testing.T) {
	h := small
	t.Run("reading", func(t *testing.T) { explore.Breaks[State](t, "hole reading", Model{h.but(func(c *Config) { c.Without = Reading })}) })
	t.Run("settled-promotion", func(t *testing.T) { explore.Breaks[State](t, "hole settled promo", Model{h.but(func(c *Config) { c.Without = Settled })}) })
	t.Run("settled-restart", func(t *testing.T) {
		explore.Breaks[State](t, "hole settled restart", Model{h.but(func(c *Config) { c.Without = Settled; c.Replicas = 0; c.Promotions = 0; c.Restarts = 1 })})
	})
	t.Run("guarddata", func(t *testing.T) {
		explore.Breaks[State](t, "hole guarddata", Model{h.but(func(c *Config) { c.Without = GuardData; c.Moves = 0; c.Promotions = 2; c.Returns = 1; c.All = 3; c.Masters = 1 })})
	})
	t.Run("passed-restart", func(t *testing.T) {
		explore.Breaks[State](t, "limit passed restart", Model{h.but(func(c *Config) { c.Passed = true; c.Replicas = 0; c.Promotions = 0; c.Restarts = 1; c.Moves = 2; c.Masters = 3; c.All = 3 })})
	})
	t.Run("passed-promotion", func(t *testing.T) {
		explore.Breaks[State](t, "limit passed promotion", Model{h.but(func(c *Config) { c.Passed = true; c.OtherSlots = true; c.All = 2 })})
	})
}
