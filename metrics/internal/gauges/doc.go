// Package gauges is the part that promholdfast and otelholdfast share: bounded groups of names, and readings of
// waiters, holders and nodes.
//
// Readings come from [holdfast.Client.Stats] and not from events. So they stay right when an observer misses events.
package gauges
