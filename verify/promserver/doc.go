// Package promserver starts a real Prometheus for a test, and asks it. It needs the program prometheus: make
// metrics-deps installs it.
package promserver
