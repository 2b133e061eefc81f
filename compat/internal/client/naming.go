package client

import (
	"fmt"

	"github.com/holdfast-go/holdfast"
)

// mostBytes is the longest key.
const mostBytes = 64 << 10

// Same is the MapName of a client without one.
func Same(name string) string { return name }

// Key returns the key of a name, or an error that matches [holdfast.ErrBadName]. It does not call mapName with an empty
// name.
func Key(name string, mapName func(string) string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("%w: the name is empty", holdfast.ErrBadName)
	}
	key := mapName(name)
	switch {
	case key == "":
		return "", fmt.Errorf("%w: MapName makes an empty key of %q", holdfast.ErrBadName, name)
	case len(key) > mostBytes:
		return "", fmt.Errorf("%w: the key has %d bytes; it must have at most %d", holdfast.ErrBadName, len(key), mostBytes)
	}
	return key, nil
}
