//go:build !linux

package childprocess

// AsInit does nothing, because only Linux has containers with a first process of their own.
func AsInit() (code int, ran bool) { return 0, false }
