// Package sample reads the locks, nodes, jobs and elections of a node set once a second, for holdfast ui and holdfast
// top. A [Sampler] shares one reading among all watchers. While nobody watches it asks nothing, or seldom: see
// [Sampler.Keep]. A [Reader] makes one reading through the public API, and [Details] reads one name.
//
// A [State] has no owner of a lease, only its label: who sees a State cannot release a lock with it.
//
// attention.go sorts what needs attention to the front, find.go searches what a State leaves out, problems.go says it
// in words, happened.go compares two readings, attempts.go tells the attempts of a job from one another, past.go keeps
// the sums of earlier ones, joblist.go lists all jobs beside the readings, early.go makes the States of a reading that
// goes on, roundtrip.go measures the nodes, and words.go has the words for answers and times.
package sample
