// All that a producer wrote is deleted, as retention does it, between two of its transactions.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	. "github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func client(opts ...Opt) *Client {
	made, _ := NewClient(append(opts, SeedBrokers(os.Getenv("BOOTSTRAP_SERVERS")), DefaultProduceTopic("orders"))...)
	return made
}

func transact(producer *Client, value string) {
	ctx := context.TODO()
	fmt.Println("begin:", producer.BeginTransaction())
	fmt.Println(value+":", producer.ProduceSync(ctx, StringRecord(value)).FirstErr())
	if err := producer.EndTransaction(ctx, TryCommit); err != nil {
		fmt.Println(err, "- abort:", producer.EndTransaction(ctx, TryAbort))
	}
}

func main() {
	producer := client(TransactionalID("till"))
	transact(producer, "an apple")
	time.Sleep(time.Second)
	all := []kmsg.DeleteRecordsRequestTopicPartition{{Offset: -1}}
	topics := []kmsg.DeleteRecordsRequestTopic{{Topic: "orders", Partitions: all}}
	(&kmsg.DeleteRecordsRequest{Topics: topics, TimeoutMillis: 9000}).RequestWith(context.TODO(), producer)
	transact(producer, "a pear")
	transact(client(TransactionalID("till")), "a plum")
	reader := client(ConsumeTopics("orders"), FetchIsolationLevel(ReadCommitted()))
	reader.PollFetches(context.TODO()).EachRecord(func(r *Record) { fmt.Println("read:", string(r.Value)) })
}
