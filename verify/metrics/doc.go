// Package check runs the alert rules and the dashboard with a real Prometheus, which scrapes a client of real
// redis-server processes. make metrics runs it. It needs the programs prometheus and promtool.
package check
