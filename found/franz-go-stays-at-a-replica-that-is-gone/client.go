// A consumer reads from the replicas in its rack. Then the broker that has them is away.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	. "github.com/twmb/franz-go/pkg/kgo"
)

func read(consumer *Client, most int) (count int) {
	ctx, cancel := context.WithTimeout(context.TODO(), 30*time.Second)
	defer cancel()
	for ctx.Err() == nil && count < most {
		count += consumer.PollFetches(ctx).NumRecords()
	}
	return count
}

func main() {
	servers := SeedBrokers(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")...)
	producer, _ := NewClient(servers, RecordPartitioner(ManualPartitioner()))
	consumer, _ := NewClient(servers, ConsumeTopics("orders"), Rack("c"))
	another, _ := NewClient(servers, ConsumeTopics("orders"))
	write := func() {
		at := func(partition int32) *Record { return &Record{Topic: "orders", Partition: partition} }
		producer.ProduceSync(context.TODO(), at(0), at(1), at(2))
	}
	write()
	fmt.Println("it reads", read(consumer, 3))
	exec.Command("sh", "-c", os.Getenv("LEAVE")).Run()
	write()
	fmt.Println("once broker 3 is away it reads", read(consumer, 3))
	fmt.Println("another consumer reads", read(another, 6))
}
