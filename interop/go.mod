// Tests with real clients of other libraries: a module of its own, so that Holdfast's tests need no Java.
module github.com/holdfast-go/holdfast/interop

go 1.26.0

replace github.com/holdfast-go/holdfast => ../

// redsync asks for it, and not every mirror has it; 1.0.78 does the same.
exclude github.com/redis/rueidis/rueidiscompat v1.0.79

require (
	github.com/bsm/redislock v0.9.4
	github.com/go-redsync/redsync/v4 v4.18.1
	github.com/holdfast-go/holdfast v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	github.com/redis/rueidis/rueidiscompat v1.0.78 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
