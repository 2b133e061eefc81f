package fence

// MySQL is the dialect of MySQL and MariaDB, with the engine InnoDB. The first statement makes the row or locks it. A
// SELECT ... FOR UPDATE that finds no row would lock a gap: two transactions could both do that, and then deadlock.
//
// At the level "repeatable read", the default, a transaction reads a snapshot that its first plain SELECT makes. Check
// makes none, so a SELECT after Check sees what earlier holders committed. One that comes before Check does not.
//
// Names are bytes (VARBINARY). A text column would take "a" and "A" for one resource.
//
// A process that is stopped inside a transaction keeps its row lock until the server closes the connection. Others end
// after innodb_lock_wait_timeout. Set wait_timeout, or idle_transaction_timeout of MariaDB.
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
