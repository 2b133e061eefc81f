// Package real holds the models' nodes against the scripts: it carries out one call on one
// record by internal/nodemodel, the scripts' executable specification, which other tests
// run beside the scripts on a real server.
package real
