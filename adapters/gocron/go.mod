// The adapter for gocron: a module of its own, so that Holdfast does not depend on gocron.
module github.com/holdfast-go/holdfast/adapters/gocron

go 1.25.0

require (
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/google/uuid v1.6.0
	github.com/holdfast-go/holdfast v0.0.0
	github.com/holdfast-go/holdfast/holdfasttest v0.0.0
	github.com/holdfast-go/holdfast/job v0.0.0
	github.com/holdfast-go/holdfast/node/rueidisnode v0.0.0
)

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/netresearch/go-cron v0.9.1 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
