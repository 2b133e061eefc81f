//go:build linux

package incident

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/verify/promserver"
)

// prometheus is a real Prometheus with the alert rules of the project, which scrapes a ward.
type prometheus struct{ *promserver.Server }

// The rules have minutes, and tests have seconds. wait is how long an alert must be true before it fires, and limit is a
// time in an expression.
var (
	wait  = regexp.MustCompile(`for: \S+`)
	limit = regexp.MustCompile(`> 600\b`)
)

func (w *ward) watch() prometheus {
	w.t.Helper()
	rules := limit.ReplaceAllString(wait.ReplaceAllString(promserver.Rules(w.t), "for: 2s"), "> 5")
	return prometheus{promserver.Start(w.t, rules, time.Second, w.metrics, w.fleet)}
}

// firing returns the alerts that fire.
func (p prometheus) firing() ([]promserver.Alert, error) {
	list, err := p.Alerts()
	return slices.DeleteFunc(list, func(a promserver.Alert) bool { return a.State != "firing" }), err
}

// look returns a line for each alert that fires.
func (p prometheus) look() string {
	list, err := p.firing()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s: %s\n", a.Name(), a.Annotations["summary"])
	}
	return b.String()
}

// annotated returns the alerts that fire, with their severity and all their annotations.
func (p prometheus) annotated() string {
	list, err := p.firing()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s (%s)\n", a.Name(), a.Labels["severity"])
		for _, name := range slices.Sorted(maps.Keys(a.Annotations)) {
			fmt.Fprintf(&b, "  %s: %s\n", name, a.Annotations[name])
		}
	}
	if len(list) == 0 {
		b.WriteString("No alert fires.\n")
	}
	return b.String()
}
