//go:build race

package sim

// raced: the race detector makes everything slower, and has the scheduler draw lots.
const raced = true
