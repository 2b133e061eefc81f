package otelholdfast_test

import (
	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/exampleset"
)

// config completes the configuration of a client in an example with a node of this process.
func config(c holdfast.Config) holdfast.Config { return exampleset.Config(c) }
