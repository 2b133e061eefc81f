package fence

// SQLite is the dialect of SQLite, 3.24 or later. SQLite locks the whole database. The first statement is a write, so
// it gets that lock before anything is read. It also works in a transaction that began as a deferred one.
//
// Set busy_timeout, otherwise a transaction that meets another one fails at once. A process that is stopped inside a
// transaction keeps the lock until it goes on or is killed.
var SQLite = Dialect{
	name: "SQLite",
	create: `CREATE TABLE IF NOT EXISTS TABLE_ (
	name   TEXT NOT NULL PRIMARY KEY, -- of the resource
	writer INTEGER NOT NULL,          -- the highest token of a writer
	reader INTEGER NOT NULL           -- the highest token of a reader
)`,
	begin: `INSERT INTO TABLE_ (name, writer, reader) VALUES (?, 0, 0) ON CONFLICT (name) DO NOTHING`,
	read:  `SELECT writer, reader FROM TABLE_ WHERE name = ?`,
	raise: `UPDATE TABLE_ SET writer = ?, reader = ? WHERE name = ?`,
}
