package redisson

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"

	"github.com/holdfast-go/holdfast/node"
)

// script is a Lua script of this package. The first lines of its file explain its keys, arguments and answers.
type script struct{ text, sha string }

var (
	//go:embed lua/acquire.lua
	acquireText string
	//go:embed lua/renew.lua
	renewText string
	//go:embed lua/release.lua
	releaseText string

	acquireScript = newScript(acquireText)
	renewScript   = newScript(renewText)
	releaseScript = newScript(releaseText)
)

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

// call returns the call of this script with these keys and arguments.
func (s script) call(keys []string, args ...string) node.Call {
	return node.Call{SHA: s.sha, Keys: keys, Args: args}
}
