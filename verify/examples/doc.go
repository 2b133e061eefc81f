// Package check tests the examples that are files and scripts: it parses the YAML, and runs the commands in it.
//
//	make examples
package check
