// Package embedded compares the embedded node with a real server, script by script.
package embedded
