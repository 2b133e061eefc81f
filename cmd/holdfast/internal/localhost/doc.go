// Package localhost says whether an HTTP request names the machine itself, so that a page of another site cannot reach a
// server on loopback by giving its own host name a loopback address (DNS rebinding).
package localhost
