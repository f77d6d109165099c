// Package example tests an application that writes with franz-go, while answers are lost and leaders move.
package example

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"mockbroker"
)

func client(t *testing.T, cluster *mockbroker.Cluster, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	seeds := kgo.SeedBrokers(cluster.ListenAddrs()...)
	made, err := kgo.NewClient(append(options, seeds, kgo.DefaultProduceTopic("orders"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

func write(t *testing.T, to *kgo.Client, values ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, each := range values {
		if err := to.ProduceSync(ctx, kgo.StringRecord(each)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func values(records []mockbroker.Record) string {
	var found []string
	for _, each := range records {
		found = append(found, *each.Value)
	}
	return strings.Join(found, ", ")
}

// The broker appends the record, and the connection is lost before its answer. An idempotent producer sends it
// again, and the broker drops the second one.
func TestAnOrderIsWrittenOnceIfTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	cluster := mockbroker.Start(t, mockbroker.Kafka("3.9"), mockbroker.Topics(map[string]int{"orders": 1}))
	lost := cluster.AddFault(mockbroker.Fault{Do: mockbroker.Disconnect, API: "Produce", When: "after", Nth: 1})
	write(t, client(t, cluster), "order 1")
	if found := values(cluster.Records("orders")); found != "order 1" || lost.Hits() != 1 {
		t.Errorf("orders: %s, %d answers lost", found, lost.Hits())
	}
}

func TestOrdersGoOnWhenTheLeaderMoves(t *testing.T) {
	t.Parallel()
	cluster := mockbroker.Start(t, mockbroker.Topics(map[string]int{"orders": 1}))
	writer := client(t, cluster)
	write(t, writer, "order 1")
	cluster.MoveLeader("orders", 0)
	write(t, writer, "order 2")
	if found := values(cluster.Records("orders")); found != "order 1, order 2" {
		t.Errorf("orders: %s", found)
	}
}

func TestAGroupGoesOnWhereItCommitted(t *testing.T) {
	t.Parallel()
	cluster := mockbroker.Start(t, mockbroker.Topics(map[string]int{"orders": 1}))
	cluster.Produce("orders", "order 1")
	reader := client(t, cluster, kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cluster.WaitForGroup("billing", mockbroker.WaitForGroupOptions{State: "Stable", Assigned: 1})
	fetched := reader.PollFetches(ctx)
	if err := fetched.Err(); err != nil || fetched.NumRecords() != 1 {
		t.Fatalf("%d records, %v", fetched.NumRecords(), err)
	}
	if err := reader.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	committed := cluster.Committed("billing")
	if len(committed) != 1 || committed[0].Offset != 1 {
		t.Errorf("%+v", committed)
	}
}
