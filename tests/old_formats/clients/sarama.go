// Sarama as a client of Kafka 0.9. Words are commands, done one after the other: write,TOPIC,CODEC,VALUE,… and
// read,TOPIC,GROUP,COUNT. Prints the offset of each record that was written, and offset and value of each that was
// read, which is committed for the group: its members need Kafka 0.10.2.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/IBM/sarama"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func configured() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V0_9_0_0
	config.ApiVersionsRequest = false
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	return config
}

func write(servers []string, topic, codec string, values []string) {
	config := configured()
	must(config.Producer.Compression.UnmarshalText([]byte(codec)))
	config.Producer.Flush.Messages = len(values)
	producer, err := sarama.NewSyncProducer(servers, config)
	must(err)
	var sent []*sarama.ProducerMessage
	for _, value := range values {
		sent = append(sent, &sarama.ProducerMessage{
			Topic: topic, Key: sarama.StringEncoder("key"), Value: sarama.StringEncoder(value),
		})
	}
	must(producer.SendMessages(sent))
	for _, each := range sent {
		fmt.Println(each.Offset)
	}
	must(producer.Close())
}

func read(servers []string, topic, group string, count int) {
	client, err := sarama.NewClient(servers, configured())
	must(err)
	consumer, err := sarama.NewConsumerFromClient(client)
	must(err)
	offsets, err := sarama.NewOffsetManagerFromClient(group, client)
	must(err)
	offset, err := offsets.ManagePartition(topic, 0)
	must(err)
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	must(err)
	for ; count > 0; count-- {
		each := <-partition.Messages()
		fmt.Println(each.Offset, string(each.Value))
		offset.MarkOffset(each.Offset+1, "")
	}
	offsets.Commit()
	must(partition.Close())
	offset.AsyncClose()
	must(offsets.Close())
	must(client.Close())
}

func main() {
	servers := strings.Split(os.Args[1], ",")
	for _, command := range os.Args[2:] {
		words := strings.Split(command, ",")
		if words[0] == "write" {
			write(servers, words[1], words[2], words[3:])
		} else {
			count, err := strconv.Atoi(words[3])
			must(err)
			read(servers, words[1], words[2], count)
		}
	}
}
