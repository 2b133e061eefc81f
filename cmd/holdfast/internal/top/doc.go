// Package top is the live view of holdfast top: a terminal with the nodes, the jobs, the locks and their waiters. model.go
// reacts to keys and readings, order.go selects and sorts the names, draw.go draws, and jobs.go draws the jobs.
package top
