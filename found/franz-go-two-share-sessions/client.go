// A worker begins while one of three partitions has no leader, and does the jobs of the other two.
package main

import (
	"context"
	"fmt"
	. "github.com/twmb/franz-go/pkg/kgo"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if err := exec.Command("sh", "-c", os.Getenv("LEAVE")).Run(); err != nil {
		panic(err)
	}
	brokers := SeedBrokers(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")...)
	var refused error
	told := ShareAckCallback(func(_ *Client, all ShareAckResults) {
		if err := all.Error(); err != nil {
			refused = err
		}
	})
	worker, _ := NewClient(brokers, ConsumeTopics("jobs"), ShareGroup("workers"), told)
	boss, _ := NewClient(brokers, DefaultProduceTopic("jobs"), RecordPartitioner(RoundRobinPartitioner()))
	again := false
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end) && !again; {
		boss.Produce(context.TODO(), StringRecord("a job"), nil)
		atMost, _ := context.WithTimeout(context.TODO(), 200*time.Millisecond)
		worker.PollFetches(atMost).EachRecord(func(job *Record) { again = again || job.DeliveryCount() > 1 })
		worker.FlushAcks(context.TODO()) // What was polled is accepted by the next poll.
	}
	fmt.Println("refused:", refused)
	fmt.Println("a job is done again:", again)
}
