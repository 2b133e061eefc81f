// Package client is what the clients of the packages in compat share: their settings, keys, scripts, background work
// and end. It has nothing of the locks themselves.
package client
