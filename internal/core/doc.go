// Package core contains the engine of the lock. The public package holdfast uses it. Package core imports no Redis
// client: package node defines the interface of a driver. docs/ARCHITECTURE.md lists its packages, from the top down.
package core
