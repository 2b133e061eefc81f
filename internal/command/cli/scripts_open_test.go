//go:build open

package cli

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// These scripts fail today: docs/limits.md describes their defects.
func TestOpenScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "open"), Setup: setUp, Cmds: commands})
}
