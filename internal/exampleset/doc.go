// Package exampleset has what the examples of the packages need and do not show: a client of a node in this process,
// and a test that is not run by go test.
package exampleset
