package fence

// SQLite is the dialect of SQLite, 3.24 or later. SQLite locks the whole database. The first statement of Check
// writes, so it gets this lock before Check reads anything. This also works in a transaction that began as a deferred
// one.
//
// Set busy_timeout. Otherwise a transaction fails at once if another one has the lock. If a process is stopped inside
// a transaction, it keeps the lock until it continues or is killed.
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
