// Package embedded is a Redis node inside this process, for tests, development and the demo. It is miniredis, extended
// so that it passes Holdfast's admission.
//
// It keeps locks in memory as a real node does, and runs the same scripts. A test compares it with redis-server. It
// lacks everything that Holdfast does not use, and it is slow: a script takes about 0.3 ms, and more from a thousand
// keys on.
package embedded
