// Package sqltest tests package fence on real databases: PostgreSQL, MariaDB and SQLite. It is a module of its own,
// because their drivers are its dependencies.
//
//	make fence-test
//
// The target installs PostgreSQL and MariaDB by apt if they are missing. Each server has a temporary folder and a free
// loopback port. It dies with the test process.
package sqltest
