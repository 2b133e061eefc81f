#!/bin/sh
# Runs goreleaser. v2.15.1 is the newest version whose requirements the module proxy has: v2.16 and v2.17 require a
# module that it refuses, and v2.18 needs Go 1.27.
exec go run github.com/goreleaser/goreleaser/v2@v2.15.1 "$@"
