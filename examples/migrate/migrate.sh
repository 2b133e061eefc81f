#!/bin/sh
# Applies the migrations that the database does not have yet, in order, each in a transaction. It runs under the lock:
#
#   holdfast run --wait 10m migrate/orders -- ./migrate.sh DIRECTORY
#
# SQL is the command that runs the statements on its stdin, and stops at an error.
set -eu
: "${SQL:=psql --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1}"
directory=$1

# The fencing token goes into the database: a run that has lost its lock without noticing has a lower one, and its
# statements change nothing.
check="SELECT 1 FROM migration_lock WHERE fence <= $HOLDFAST_FENCE"
$SQL <<END
CREATE TABLE IF NOT EXISTS migrations (name VARCHAR(200) PRIMARY KEY, fence BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS migration_lock (id INTEGER PRIMARY KEY, fence BIGINT NOT NULL);
INSERT INTO migration_lock SELECT 1, 0 WHERE NOT EXISTS (SELECT 1 FROM migration_lock);
UPDATE migration_lock SET fence = $HOLDFAST_FENCE WHERE fence < $HOLDFAST_FENCE;
END
for file in "$directory"/*.sql; do
	name=$(basename "$file")
	[ -z "$(echo "SELECT name FROM migrations WHERE name = '$name';" | $SQL)" ] || continue
	[ -n "$(echo "$check;" | $SQL)" ] || { echo "a later run has the lock" >&2; exit 1; }
	{
		echo "BEGIN;"
		cat "$file"
		# The name is a primary key, and the fence is NULL and refused if a later run has the lock.
		echo "INSERT INTO migrations VALUES ('$name', (SELECT fence FROM migration_lock WHERE fence <= $HOLDFAST_FENCE));"
		echo "COMMIT;"
	} | $SQL
	echo "applied $name"
done
