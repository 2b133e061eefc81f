package cli

import (
	"slices"
	"testing"
)

// A list of URLs and the hosts in a URL both have commas.
func TestAListOfNodesKeepsTheHostsOfAURLTogether(t *testing.T) {
	for text, want := range map[string][]string{
		"redis+sentinel://a,b:1,c/m":                         {"redis+sentinel://a,b:1,c/m"},
		"redis://x,rediss+sentinel://u:p@a, b,c/m,redis://y": {"redis://x", "rediss+sentinel://u:p@a,b,c/m", "redis://y"},
		"redis+sentinel://a/m,redis+sentinel://b,c/m?wait=1": {"redis+sentinel://a/m", "redis+sentinel://b,c/m?wait=1"},
		"redis+sentinel://a,redis://b":                       {"redis+sentinel://a", "redis://b"},
		"redis://a,b":                                        {"redis://a", "b"},
		"redis+cluster://a,b:1, c":                           {"redis+cluster://a,b:1,c"},
		"rediss+cluster://u:p@a,b?wait=1,c":                  {"rediss+cluster://u:p@a,b?wait=1", "c"},
		"valkey+cluster://a,b,redis://c":                     {"valkey+cluster://a,b", "redis://c"},
		"redis+cluster://a,b/,c":                             {"redis+cluster://a,b/", "c"},
	} {
		var l nodeList
		if err := l.Set(text); err != nil || !slices.Equal(l, want) {
			t.Errorf("%q: %q, %v; want %q", text, []string(l), err, want)
		}
	}
}
