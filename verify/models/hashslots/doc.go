// Package hashslots models the admission of a hash slot of a Redis Cluster.
package hashslots
