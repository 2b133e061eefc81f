// Tests with real clients of other libraries: a module of its own, so that Holdfast's tests need no Java.
module github.com/holdfast-go/holdfast/interop

go 1.25.0

replace github.com/holdfast-go/holdfast => ../

require (
	github.com/bsm/redislock v0.9.4
	github.com/go-redsync/redsync/v4 v4.17.0
	github.com/holdfast-go/holdfast v0.0.0
	github.com/redis/go-redis/v9 v9.22.0
	github.com/redis/rueidis v1.0.79
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
