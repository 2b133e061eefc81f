// Package gate is the code that the tests of the mutants weaken.
package gate

import _ "embed"

//go:embed rule.lua
var rule string

func open(n int) bool {
	return n < 10
}
