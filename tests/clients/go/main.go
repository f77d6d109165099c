// Requests one after the other on a connection, of which drivers know nothing, with kafka-go's defaults: its client id
// is null unless it is given one. Prints what went wrong, and ends with status 1.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	bootstrap, topic := os.Args[1], os.Args[2]
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := connection(ctx, bootstrap, topic); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// One connection, many requests, most of them with a client id that is null.
func connection(ctx context.Context, bootstrap, topic string) error {
	conn, err := kafka.DialContext(ctx, "tcp", bootstrap)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.CreateTopics(kafka.TopicConfig{Topic: topic, NumPartitions: 3, ReplicationFactor: 1}); err != nil {
		return err
	}
	for range 5 {
		if _, err := conn.ApiVersions(); err != nil {
			return err
		}
		partitions, err := conn.ReadPartitions(topic)
		if err != nil {
			return err
		}
		if len(partitions) != 3 {
			return fmt.Errorf("%d partitions", len(partitions))
		}
	}
	leader, err := kafka.DialLeader(ctx, "tcp", bootstrap, topic, 1)
	if err != nil {
		return err
	}
	defer leader.Close()
	for n := range 5 {
		if _, err := leader.WriteMessages(kafka.Message{Value: []byte(strconv.Itoa(n))}); err != nil {
			return err
		}
		if first, last, err := leader.ReadOffsets(); err != nil || first != 0 || last != int64(n+1) {
			return fmt.Errorf("offsets %d to %d: %v", first, last, err)
		}
	}
	return conn.DeleteTopics(topic)
}
