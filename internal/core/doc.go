// Package core has no code. The packages below it are the engine of the lock, and the public package holdfast uses
// them. None of them imports a Redis client: package node defines the interface of a driver. docs/ARCHITECTURE.md lists
// its packages, from the top down.
package core
