// Package top is the live view of holdfast top: a terminal with the locks, their waiters and the nodes. model.go reacts
// to keys and readings, order.go selects and sorts the names, and draw.go draws.
package top
