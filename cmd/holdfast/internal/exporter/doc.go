// Package exporter is the HTTP endpoint of --metrics-listen: metrics for Prometheus, and the health of the process.
package exporter
