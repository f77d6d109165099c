// The broker that a reader names first hangs: it takes connections, and answers nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

func read(group string, brokers []string) string {
	config := kafka.ReaderConfig{Brokers: brokers, GroupID: group, Topic: "orders", MaxWait: time.Second}
	reader := kafka.NewReader(config)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := reader.ReadMessage(ctx); err == nil {
			return "a record"
		}
	}
	return "nothing in 30 s"
}

func main() {
	brokers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	writer := kafka.Writer{Addr: kafka.TCP(brokers...), Topic: "orders", RequiredAcks: kafka.RequireAll}
	_ = writer.WriteMessages(context.Background(), kafka.Message{Value: []byte("1")})
	fmt.Println("all is well:", read("a", brokers))
	_ = exec.Command("sh", "-c", os.Getenv("LEAVE")).Run()
	fmt.Println("broker 3 hangs, and is named last:", read("b", brokers))
	slices.Reverse(brokers)
	fmt.Println("it is named first:", read("b", brokers))
}
