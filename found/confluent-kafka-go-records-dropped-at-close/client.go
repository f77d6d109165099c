// A member of a group, with the default settings, is given one of 500 records and closed. What is the next one given?
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

var servers, orders = os.Getenv("BOOTSTRAP_SERVERS"), "orders"

func read(group string) string {
	consumer, _ := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"})
	defer consumer.Close()
	consumer.SubscribeTopics([]string{orders}, nil)
	message, _ := consumer.ReadMessage(time.Minute)
	time.Sleep(time.Second)
	return string(message.Value)
}

func main() {
	producer, _ := kafka.NewProducer(&kafka.ConfigMap{"bootstrap.servers": servers, "go.delivery.reports": false})
	at, skipped := kafka.TopicPartition{Topic: &orders}, false
	for number := range 500 {
		producer.Produce(&kafka.Message{TopicPartition: at, Value: fmt.Append(nil, number)}, nil)
	}
	for round := 0; round < 20 && !skipped; round++ { // not each time: it is a race
		group := fmt.Sprint("billing-", round)
		producer.Flush(30_000)
		first := read(group)
		producer.Produce(&kafka.Message{TopicPartition: at, Value: []byte("last")}, nil)
		skipped = first == "0" && read(group) != "1"
	}
	fmt.Println("records were given to nobody:", skipped)
}
