// Package cli is the holdfast command. It has one file per subcommand, and one file per other noun. It uses the public
// API, the embedded node, and the package that runs a command under a lock.
//
// Answers go to stdout. Everything else goes to stderr, each line as "holdfast: …", with a hint under an error.
// exitcodes.go contains every exit code. testdata/script has one script for each code.
package cli
