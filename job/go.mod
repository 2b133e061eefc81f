// Jobs: a module of its own, because a parser of cron expressions is its dependency.
module github.com/holdfast-go/holdfast/job

go 1.25.0

require (
	github.com/holdfast-go/holdfast v0.0.0
	github.com/holdfast-go/holdfast/holdfasttest v0.0.0
	github.com/holdfast-go/holdfast/node/rueidisnode v0.0.0
	github.com/netresearch/go-cron v0.9.1
)

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
