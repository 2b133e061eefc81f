// The driver on go-redis: a module of its own, so that only those who use go-redis require it.
module github.com/holdfast-go/holdfast/node/goredisnode

go 1.25.0

require (
	github.com/holdfast-go/holdfast v0.0.0
	github.com/redis/go-redis/v9 v9.22.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
