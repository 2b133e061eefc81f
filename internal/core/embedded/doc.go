// Package embedded is a Redis node inside this process, for tests, development and the demo. It is miniredis with
// extensions, so that it passes Holdfast's admission.
//
// It keeps locks in memory as a real node does, and runs the same scripts. A test compares it with redis-server. It
// promises no functions of Redis beyond those that Holdfast uses. It is slow: a script takes about 0.3 ms, and more
// with a thousand keys or more.
package embedded
