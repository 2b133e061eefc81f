package holdfast

import (
	"errors"
	"fmt"
	"strings"
)

// ConfigError is the error of a value that [New] or an option refuses. It names the field, the value and the bound.
type ConfigError struct {
	Field string // such as "MaxTTL"

	format string // text with the names of fields in braces
	args   []any
}

// badField returns the error of a field. In format the names of all fields are in braces.
func badField(field, format string, args ...any) error {
	return &ConfigError{Field: field, format: format, args: args}
}

func (e *ConfigError) Error() string { return e.Named(func(field string) string { return field }) }

// Named returns the error with other names for the fields, such as those of flags.
func (e *ConfigError) Named(name func(field string) string) string {
	var pairs []string
	for _, f := range configFields {
		pairs = append(pairs, "{"+f+"}", strings.ReplaceAll(name(f), "%", "%%"))
	}
	return fmt.Errorf(strings.NewReplacer(pairs...).Replace(e.format), e.args...).Error()
}

// Unwrap returns the error that e wraps, or nil.
func (e *ConfigError) Unwrap() error { return errors.Unwrap(fmt.Errorf(e.format, e.args...)) }

// configFields are the fields that errors name.
var configFields = []string{"Nodes", "TTL", "MaxTTL", "Window", "NodeTimeout", "RetryDelay", "PollGap", "Private", "Cluster", "Label", "Prefix", "Rate", "OlderThan", "Kind", "Pattern"}
