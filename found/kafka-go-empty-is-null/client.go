// A record with an empty key and an empty value is written and read, and one without either (a tombstone).
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	servers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	writer := kafka.Writer{Addr: kafka.TCP(servers...), Topic: "orders", RequiredAcks: kafka.RequireAll}
	empty, none := kafka.Message{Key: []byte{}, Value: []byte{}}, kafka.Message{}
	for err := writer.WriteMessages(ctx, empty, none); err != nil; {
		err = writer.WriteMessages(ctx, empty, none)
	}
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: servers, Topic: "orders"})
	for range 2 {
		read, err := reader.ReadMessage(ctx)
		if err != nil {
			panic(err)
		}
		fmt.Printf("offset %d: key is nil: %t, value is nil: %t\n", read.Offset, read.Key == nil, read.Value == nil)
	}
}
