// The end of a partition is asked for, and the result's error is looked at as Go programs do.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/IBM/sarama"
)

func main() {
	servers, config := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ","), sarama.NewConfig()
	config.Producer.Return.Successes = true
	producer, err := sarama.NewSyncProducer(servers, config)
	if err != nil {
		panic(err)
	}
	producer.SendMessage(&sarama.ProducerMessage{Topic: "orders", Value: sarama.StringEncoder("first")})
	admin, err := sarama.NewClusterAdmin(servers, config)
	if err != nil {
		panic(err)
	}
	found, err := admin.ListOffsets(map[string]map[int32]int64{"orders": {0: sarama.OffsetNewest}}, nil)
	fmt.Println("ListOffsets:", err)
	if end := found["orders"][0]; end.Err != nil {
		fmt.Println("orders-0:", end.Err)
	} else {
		fmt.Println("orders-0 ends at", end.Offset)
	}
}
