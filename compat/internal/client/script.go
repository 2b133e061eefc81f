package client

import (
	"context"
	"crypto/sha1"
	"encoding/hex"

	"github.com/holdfast-go/holdfast/node"
)

// Script is a Lua script. The first lines of its file explain its keys, arguments and answers.
type Script struct{ text, sha string }

// NewScript returns the script of a text.
func NewScript(text string) Script {
	sum := sha1.Sum([]byte(text))
	return Script{text: text, sha: hex.EncodeToString(sum[:])}
}

// Call returns the script's call with these keys and arguments.
func (s Script) Call(keys []string, args ...string) node.Call {
	return node.Call{SHA: s.sha, Keys: keys, Args: args}
}

// Run runs a call of the script on a node. If the node does not know the script, Run sends its text. Package holdfast
// uses this case (NOSCRIPT) to detect a restart and begin a quarantine. The packages in compat do not: the other
// libraries take locks on a restarted node at once, so a quarantine here would protect nobody.
//
// Run sends no SCRIPT LOAD: EVAL makes the server know the script. A load that is refused would hide the answer of an
// EVAL that the server has executed.
func (s Script) Run(ctx context.Context, n node.Node, call node.Call) node.Reply {
	r := n.EvalSHA(ctx, []node.Call{call})[0]
	if node.Code(r.Err) == node.NoScript {
		r = n.Eval(ctx, s.text, call)
	}
	return r
}
