// Package sample reads the locks, nodes, jobs and elections of a node set once a second, for holdfast ui and holdfast
// top. A [Sampler] shares one reading among all watchers, and asks nothing while nobody watches. A [Reader] makes one
// reading through the public API.
//
// A [State] has no owner of a lease, only its label: who sees a State cannot release a lock with it.
package sample
