package cli

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionNamesTheCommit(t *testing.T) {
	built := func(version, revision, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: version},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}}
	}
	for _, c := range []struct {
		release, commit string
		info            *debug.BuildInfo
		want            string
	}{
		{"v1.2.3", "0123456789abcdef", built("(devel)", "", ""), "v1.2.3 (commit 0123456789ab, go1.26.0)"},               // a release
		{"", "", built("v1.2.3", "", ""), "v1.2.3 (go1.26.0)"},                                                           // go install
		{"", "", built("v0.0.0-2026+dirty", "0123456789abcdef", "true"), "v0.0.0-2026 (commit 0123456789ab+, go1.26.0)"}, // a changed tree
		{"", "", built("", "abc", "false"), "(devel) (commit abc, go1.26.0)"},                                            // an old Go
		{"", "", &debug.BuildInfo{}, "(devel)"},                                                                          // no build information
		{"v1.2.3", "0123456789abcdef", built("v1.2.3", "fedcba", "true"), "v1.2.3 (commit 0123456789ab, go1.26.0)"},      // files that the release makes
	} {
		if got := versionOf(c.release, c.commit, c.info); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
