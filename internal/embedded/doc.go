// Package embedded is a Redis node inside the own process, for tests, development
// and the demo: miniredis, dressed so that it passes Holdfast's admission.
//
// It keeps locks as a real node does, in memory, and runs the same scripts; a test
// compares it with redis-server. What it lacks is everything Holdfast does not use,
// and speed: a script takes about 0.3 ms, and more from a thousand keys on.
package embedded
