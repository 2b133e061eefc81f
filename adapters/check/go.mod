// Tests of the adapters with real processes: a module of its own, because a rival's library is its dependency.
module github.com/holdfast-go/holdfast/adapters/check

go 1.26.0

replace (
	github.com/holdfast-go/holdfast => ../../
	github.com/holdfast-go/holdfast/adapters/gocron => ../gocron
	github.com/holdfast-go/holdfast/adapters/robfigcron => ../robfigcron
)

// Asked for by redsync 4.18.1 and not on every mirror; 1.0.78 does the same for it.
exclude github.com/redis/rueidis/rueidiscompat v1.0.79

require (
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/go-redsync/redsync/v4 v4.18.1
	github.com/google/uuid v1.6.0
	github.com/holdfast-go/holdfast v0.0.0
	github.com/holdfast-go/holdfast/adapters/gocron v0.0.0
	github.com/holdfast-go/holdfast/adapters/robfigcron v0.0.0
	github.com/jonboulle/clockwork v0.5.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/robfig/cron/v3 v3.0.1
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/netresearch/go-cron v0.9.1 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	github.com/redis/rueidis/rueidiscompat v1.0.78 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
