#!/bin/sh
# The start of a service with several instances: one of them migrates the database, the others wait for it. Then each
# becomes the service.
set -eu
holdfast run --through-outages --wait 10m migrate/orders -- "$(dirname "$0")/migrate.sh" "$MIGRATIONS"
exec "$@"
