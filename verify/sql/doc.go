// Package sqltest tests package fence on real databases: PostgreSQL, MariaDB and SQLite. It is a separate package,
// because it depends on the drivers of these databases.
//
//	make fence-test
//
// make fence-test installs PostgreSQL and MariaDB by apt if they are missing. Each server uses a temporary folder and
// a free loopback port. It ends with the test process.
package sqltest
