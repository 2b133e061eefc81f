// Package real compares the models' nodes with the scripts. It runs one call on one record by internal/nodemodel, the
// executable specification of the scripts. Other tests compare that package with the scripts on a real server.
package real
