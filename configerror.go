package holdfast

import (
	"errors"
	"fmt"
	"strings"
)

// ConfigError is the error for a value that [New] or an option refuses. Its text names the field, the value and the
// bound.
type ConfigError struct {
	Field string // such as "MaxTTL"

	format string // text of the error; each name of a field is in braces, so that Named can replace it
	args   []any
}

// badField returns the error for the field named field. In format the name of each field is in braces.
func badField(field, format string, args ...any) error {
	return &ConfigError{Field: field, format: format, args: args}
}

func (e *ConfigError) Error() string { return e.Named(func(field string) string { return field }) }

// Named returns the text of the error with other names for the fields. The command uses it to name flags instead of
// fields.
func (e *ConfigError) Named(name func(field string) string) string {
	var pairs []string
	for _, f := range configFields {
		pairs = append(pairs, "{"+f+"}", strings.ReplaceAll(name(f), "%", "%%"))
	}
	return fmt.Errorf(strings.NewReplacer(pairs...).Replace(e.format), e.args...).Error()
}

// Unwrap returns the error that e wraps, or nil.
func (e *ConfigError) Unwrap() error { return errors.Unwrap(fmt.Errorf(e.format, e.args...)) }

// configFields are all fields whose names Named replaces.
var configFields = []string{"Nodes", "TTL", "MaxTTL", "MaxHold", "Window", "NodeTimeout", "RetryDelay", "PollGap", "Private", "Cluster", "Durable", "Label", "Prefix", "Observers", "Rate", "OlderThan", "Kind", "Pattern"}
