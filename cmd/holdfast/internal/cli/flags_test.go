package cli

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

func TestNodesOfSeveralFlagsAddUpAndReplaceTheEnvironments(t *testing.T) {
	t.Setenv("HOLDFAST_NODES", "redis://of,redis://environ")
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"redis://of", "redis://environ"}},
		{[]string{"--nodes", "redis://a"}, []string{"redis://a"}},
		{[]string{"--nodes", "redis://a", "--nodes", "redis://b,redis://c"}, []string{"redis://a", "redis://b", "redis://c"}},
	} {
		var s settings
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		s.register(flags)
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if err := s.environ(flags); err != nil {
			t.Fatal(err)
		}
		if got := s.urls(); !slices.Equal(got, c.want) {
			t.Errorf("%q: nodes are %q, want %q", c.args, got, c.want)
		}
	}
}
