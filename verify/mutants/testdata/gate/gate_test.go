package gate

import (
	"strings"
	"testing"
)

func TestTenIsTooMany(t *testing.T) {
	if open(10) {
		t.Error("let ten in")
	}
	if !strings.Contains(rule, "closed") {
		t.Errorf("the rule is %q", rule)
	}
}

func TestThatFails(t *testing.T) { t.Error("as it is") }
