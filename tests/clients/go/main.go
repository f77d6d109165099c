// A producer, group readers and requests one after the other on a connection, with kafka-go's defaults: its client
// id is null unless it is given one. Prints what went wrong, and ends with status 1.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

const records = 60

func main() {
	bootstrap, topic := os.Args[1], os.Args[2]
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for name, step := range map[string]func(context.Context, string, string) error{
		"connection": connection,
		"group":      group,
	} {
		if err := step(ctx, bootstrap, topic+"-"+name); err != nil {
			fmt.Printf("%s: %v\n", name, err)
			os.Exit(1)
		}
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

// A writer with each compression; two readers in turn in one group, the second from where the first committed.
func group(ctx context.Context, bootstrap, topic string) error {
	conn, err := kafka.DialContext(ctx, "tcp", bootstrap)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.CreateTopics(kafka.TopicConfig{Topic: topic, NumPartitions: 2, ReplicationFactor: 1}); err != nil {
		return err
	}
	for codec := range 5 {
		writer := &kafka.Writer{
			Addr:         kafka.TCP(bootstrap),
			Topic:        topic,
			BatchTimeout: 10 * time.Millisecond,
			RequiredAcks: kafka.RequireAll,
			Compression:  kafka.Compression(codec),
		}
		for n := 0; n < records; n += 5 {
			if err := writer.WriteMessages(ctx, kafka.Message{Value: []byte(strconv.Itoa(n + codec))}); err != nil {
				return err
			}
		}
		if err := writer.Close(); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for range 2 {
		reader := kafka.NewReader(kafka.ReaderConfig{
			Brokers: []string{bootstrap},
			GroupID: topic,
			Topic:   topic,
			MaxWait: 100 * time.Millisecond,
		})
		for range records / 2 {
			message, err := reader.ReadMessage(ctx)
			if err != nil {
				return err
			}
			if seen[string(message.Value)] {
				return fmt.Errorf("%s came twice", message.Value)
			}
			seen[string(message.Value)] = true
		}
		if err := reader.Close(); err != nil {
			return err
		}
	}
	if len(seen) != records {
		return fmt.Errorf("%d of %d records", len(seen), records)
	}
	return nil
}
