// Package cli is the holdfast command: one file per subcommand, and one per
// noun it needs besides. It uses only the public API, the embedded node and what runs a
// command under a lock.
//
// Answers go to stdout. Everything else goes to stderr, each line as "holdfast: …",
// with a hint under an error. Every exit code is in exit.go; testdata/script has a
// script for each.
package cli
