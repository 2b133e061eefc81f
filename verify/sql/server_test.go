//go:build linux

package sqltest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// patience limits the start of a server.
const patience = time.Minute

// database is a kind of database that runs.
type database struct {
	name    string // in the names of subtests
	driver  string
	dsn     string
	dialect fence.Dialect
}

// tables protects the making of the tables.
var tables sync.Mutex

// servers are started once for all tests, by TestMain.
var servers struct {
	sync.Mutex
	end []func()
}

// stopServers ends all servers and removes their folders.
func stopServers() {
	servers.Lock()
	defer servers.Unlock()
	for _, end := range servers.end {
		end()
	}
}

// databases starts all servers at the first call.
var databases = sync.OnceValues(func() ([]database, error) {
	pg, pgErr := startPostgres()
	maria, mariaErr := startMariaDB()
	lite, liteErr := newSQLite()
	all := []database{pg, maria, lite}
	if err := errors.Join(pgErr, mariaErr, liteErr); err != nil {
		return nil, fmt.Errorf("%w; to install the servers run: make fence-deps", err)
	}
	return all, nil
})

// each runs a test on each database.
func each(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	all, err := databases()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

// one returns the database of this name.
func one(t *testing.T, name string) database {
	t.Helper()
	all, err := databases()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.name == name {
			return d
		}
	}
	t.Fatalf("no database is called %s", name)
	return database{}
}

// connect opens the database. It is closed with the test.
func (d database) connect(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(12)
	return db
}

func newSQLite() (database, error) {
	dir, err := os.MkdirTemp("", "sqltest-")
	if err != nil {
		return database{}, err
	}
	atEnd(func() { _ = os.RemoveAll(dir) })
	dsn := "file:" + filepath.Join(dir, "test.db") + "?_busy_timeout=60000&_journal_mode=WAL&_synchronous=NORMAL"
	return database{"SQLite", "sqlite3", dsn, fence.SQLite}, nil
}

func startPostgres() (database, error) {
	d := database{name: "PostgreSQL", driver: "pgx", dialect: fence.Postgres}
	dir, err := folder()
	if err != nil {
		return d, err
	}
	data := filepath.Join(dir, "data")
	initdb, err := find("initdb", "/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return d, err
	}
	init := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	init.Dir = dir
	asNobody(init)
	if said, err := init.CombinedOutput(); err != nil {
		return d, fmt.Errorf("initdb: %w: %s", err, said)
	}
	// No test cuts the power, so fsync only costs time.
	port := freePort()
	err = run(dir, syscall.SIGQUIT, filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port),
		"-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=300")
	if err != nil {
		return d, err
	}
	d.dsn = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	return d, d.await(dir)
}

func startMariaDB() (database, error) {
	d := database{name: "MariaDB", driver: "mysql", dialect: fence.MySQL}
	dir, err := folder()
	if err != nil {
		return d, err
	}
	server, err := find("mariadbd", "/usr/sbin/mariadbd")
	if err != nil {
		return d, err
	}
	// Without the grant tables a server needs no preparation of its folder. It listens on loopback only.
	port := freePort()
	err = run(dir, syscall.SIGKILL, server, "--no-defaults", "--datadir="+dir, "--skip-grant-tables", "--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(port), "--socket="+filepath.Join(dir, "socket"), "--pid-file="+filepath.Join(dir, "pid"),
		"--innodb-flush-log-at-trx-commit=0", "--max-connections=300")
	if err != nil {
		return d, err
	}
	d.dsn = fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port)
	if err := d.await(dir); err != nil {
		return d, err
	}
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		return d, err
	}
	_, err = db.Exec("CREATE DATABASE test")
	d.dsn += "test"
	return d, errors.Join(err, db.Close())
}

// await returns when the server answers.
func (d database) await(dir string) error {
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = db.PingContext(ctx)
		cancel()
		if err == nil {
			return nil
		}
	}
	said, _ := os.ReadFile(filepath.Join(dir, "log"))
	return fmt.Errorf("%s does not answer within %v: %w; it said: %s", d.name, patience, err, said[max(0, len(said)-2000):])
}

// find returns the path of a program, from PATH or from a pattern.
func find(name, pattern string) (string, error) {
	if there, _ := filepath.Glob(pattern); len(there) > 0 {
		return there[len(there)-1], nil
	}
	return exec.LookPath(name)
}

// folder makes a folder for a server.
func folder() (string, error) {
	dir, err := os.MkdirTemp("", "sqltest-")
	if err != nil {
		return "", err
	}
	atEnd(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		err = os.Chown(dir, nobody, nobody)
	}
	return dir, err
}

// atEnd adds a function for the end of all tests. It comes after those that were added later.
func atEnd(f func()) {
	servers.Lock()
	defer servers.Unlock()
	servers.end = append([]func(){f}, servers.end...)
}

// nobody is the user of the servers if the tests run as root, because PostgreSQL refuses to be root.
const nobody = 65534

func asNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// run starts a server that dies with this process. At the end it gets a signal.
func run(dir string, stop syscall.Signal, program string, args ...string) error {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	asNobody(cmd)
	if err := parentdeath.Start(cmd); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	atEnd(func() {
		_ = cmd.Process.Signal(stop)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	return nil
}

// freePort returns a free loopback port.
func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // this machine has no free port
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// The servers must not outlive the tests, and a log that nobody reads must not stay.
func TestServersHaveFoldersOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		var version string
		query := "SELECT version()"
		if d.driver == "sqlite3" {
			query = "SELECT sqlite_version()"
		}
		if err := d.connect(t).QueryRowContext(t.Context(), query).Scan(&version); err != nil {
			t.Fatal(err)
		}
		t.Log(version)
		if d.driver == "mysql" && !bytes.Contains([]byte(version), []byte("MariaDB")) {
			t.Errorf("the server is %s; want MariaDB", version)
		}
	})
}
