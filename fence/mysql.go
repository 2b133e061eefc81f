package fence

// MySQL is the dialect of MySQL and MariaDB, with the engine InnoDB. Its first statement inserts the row, or locks it
// if it exists. A SELECT ... FOR UPDATE could not come first: if it finds no row, it locks only a gap. Two
// transactions can both lock this gap, and then both would wait for each other at their INSERT.
//
// At the default isolation level, "repeatable read", the first plain SELECT of a transaction makes a snapshot, and
// later ones read from it. Check makes no plain SELECT. So a SELECT after Check sees everything that earlier holders
// committed. A SELECT before Check makes an older snapshot.
//
// Names are stored as bytes (VARBINARY). A text column would treat "a" and "A" as the same resource.
//
// If a process is stopped inside a transaction, it keeps its row lock until the server closes the connection. Other
// transactions fail after innodb_lock_wait_timeout. To limit this, set wait_timeout, or idle_transaction_timeout of
// MariaDB.
var MySQL = Dialect{
	name: "MySQL",
	create: `CREATE TABLE IF NOT EXISTS TABLE_ (
	name   VARBINARY(512) NOT NULL PRIMARY KEY, -- of the resource
	writer BIGINT NOT NULL,                     -- the highest token of a writer
	reader BIGINT NOT NULL                      -- the highest token of a reader
) ENGINE = InnoDB`,
	begin: `INSERT INTO TABLE_ (name, writer, reader) VALUES (?, 0, 0) ON DUPLICATE KEY UPDATE writer = writer`,
	read:  `SELECT writer, reader FROM TABLE_ WHERE name = ? FOR UPDATE`,
	raise: `UPDATE TABLE_ SET writer = ?, reader = ? WHERE name = ?`,
}
