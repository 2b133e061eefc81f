package fence

// Postgres is the dialect of PostgreSQL. FOR UPDATE waits for other transactions and then reads the newest row. At
// the isolation levels "repeatable read" and "serializable", the server instead returns a serialization failure
// (40001) if the row has changed after the first statement of the transaction.
//
// If a process is stopped inside a transaction, it keeps its row lock until the server ends the session. To limit
// this, set idle_in_transaction_session_timeout.
var Postgres = Dialect{
	name: "PostgreSQL",
	create: `CREATE TABLE IF NOT EXISTS TABLE_ (
	name   text COLLATE "C" PRIMARY KEY, -- of the resource
	writer bigint NOT NULL,              -- the highest token of a writer
	reader bigint NOT NULL               -- the highest token of a reader
)`,
	read:   `SELECT writer, reader FROM TABLE_ WHERE name = $1 FOR UPDATE`,
	insert: `INSERT INTO TABLE_ (name, writer, reader) VALUES ($1, 0, 0) ON CONFLICT (name) DO NOTHING`,
	raise:  `UPDATE TABLE_ SET writer = $1, reader = $2 WHERE name = $3`,
}
