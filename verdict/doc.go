// Package verdict has the answers of nodes, in codes for programs and in words for people: what a node said to an
// attempt, about a lock, or about itself, and what the answers of all nodes say together. The errors of package
// holdfast contain such answers.
package verdict
