// Sends a record while a transaction is committed, and does what the error of the commit asks for.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

func main() {
	config := sarama.NewConfig()
	config.Producer.Idempotent, config.Producer.RequiredAcks, config.Net.MaxOpenRequests = true, sarama.WaitForAll, 1
	config.Producer.Transaction.ID, config.Producer.Return.Successes = "payments", true
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	client, _ := sarama.NewClient(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ","), config)
	producer, _ := sarama.NewAsyncProducerFromClient(client)
	send := func() { producer.Input() <- &sarama.ProducerMessage{Topic: "orders", Value: sarama.StringEncoder("1")} }
	_ = producer.BeginTxn()
	send()
	<-producer.Successes()
	_ = exec.Command("sh", "-c", os.Getenv("STAND_STILL")).Run()
	time.AfterFunc(500*time.Millisecond, send)
	fmt.Println("CommitTxn:", producer.CommitTxn())
	fmt.Println("the other record:", (<-producer.Errors()).Err)
	fmt.Println("asked to abort:", producer.TxnStatus()&sarama.ProducerTxnFlagAbortableError != 0)
	fmt.Println("AbortTxn:", producer.AbortTxn())
	fmt.Println("BeginTxn:", producer.BeginTxn())
	consumer, _ := sarama.NewConsumerFromClient(client)
	partition, _ := consumer.ConsumePartition("orders", 0, sarama.OffsetOldest)
	record := <-partition.Messages()
	fmt.Println("committed: the record at offset", record.Offset)
}
