package holdfasttest_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/exampleset"
)

// test runs the body of a test. In a package it is a function: func TestReport(t *testing.T).
func test(f func(t testing.TB)) { exampleset.Test(f) }
