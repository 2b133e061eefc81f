package setnx

import (
	_ "embed"

	"github.com/holdfast-go/holdfast/compat/internal/client"
)

// The Lua scripts of this package. The header of each file says what its keys, arguments and answers mean. Each script
// begins with the text of time.lua.
var (
	//go:embed lua/time.lua
	timeText string
	//go:embed lua/acquire.lua
	acquireText string
	//go:embed lua/renew.lua
	renewText string
	//go:embed lua/release.lua
	releaseText string

	acquireScript = client.NewScript(timeText + acquireText)
	renewScript   = client.NewScript(timeText + renewText)
	releaseScript = client.NewScript(timeText + releaseText)
)
