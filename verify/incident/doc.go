// Package incident seeds faults on real servers, one at a time, and judges what an operator then sees: holdfast nodes,
// holdfast doctor, holdfast top, the page, the metrics and the alerts. Each view must say what is wrong, or must not
// mislead. make metrics runs it; it needs the program prometheus.
//
//	ward_test.go      three servers, the program, and its processes
//	views_test.go     what each view shows
//	alerts_test.go    the alerts that a real Prometheus fires
//	faults_test.go    the faults, and what each view must say
//	pictures_test.go  pictures of the page and the alerts, for a person who does not know the faults
//	incident_test.go  the table of faults and views: docs/results/incident.md
package incident
