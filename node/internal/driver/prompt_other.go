//go:build !unix

package driver

import "time"

func (c *prompt) readable(time.Duration) bool { return true }

func (c *prompt) look([]byte) (int, bool) { return 0, false }
