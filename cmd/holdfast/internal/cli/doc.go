// Package cli contains the subcommands of holdfast, one file for each. It uses the public API, the embedded node, and
// package childprocess, which runs a command under a lock.
//
// Answers go to stdout. All other messages go to stderr. Each line there begins with "holdfast: ", and a hint may
// follow an error. exitcodes.go contains all exit codes. testdata/script contains a script for each of them.
package cli
