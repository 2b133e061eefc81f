package goredisnode_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node/goredisnode"
)

func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "10.0.0.7:6379", Password: "s3cret"})
	defer client.Close()

	n, err := goredisnode.New(client)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close() // the client stays open
	fmt.Println(n.Addr())
	// Output: redis://10.0.0.7:6379/0
}
