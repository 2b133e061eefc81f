package redisson

import (
	_ "embed"

	"github.com/holdfast-go/holdfast/compat/internal/client"
)

// These are the Lua scripts of this package. The first lines of each file explain its keys, arguments and answers.
var (
	//go:embed lua/acquire.lua
	acquireText string
	//go:embed lua/renew.lua
	renewText string
	//go:embed lua/release.lua
	releaseText string

	acquireScript = client.NewScript(acquireText)
	renewScript   = client.NewScript(renewText)
	releaseScript = client.NewScript(releaseText)
)
