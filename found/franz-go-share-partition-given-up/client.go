// A worker takes longer for a job than it has it for, and says that the job is done. Then it looks for it again.
package main

import (
	"context"
	"fmt"
	. "github.com/twmb/franz-go/pkg/kgo"
	"os"
	"time"
)

func member() *Client {
	told := ShareAckCallback(func(_ *Client, all ShareAckResults) { fmt.Println("it is done:", all[0].Err) })
	brokers := SeedBrokers(os.Getenv("BOOTSTRAP_SERVERS"))
	made, _ := NewClient(brokers, DefaultProduceTopic("jobs"), ConsumeTopics("jobs"), ShareGroup("workers"), told)
	return made
}

func work(name string, worker *Client, takes time.Duration) {
	atMost, _ := context.WithTimeout(context.TODO(), 8*time.Second)
	for _, job := range worker.PollFetches(atMost).Records() {
		fmt.Println(name, "takes", string(job.Value))
		time.Sleep(takes)
		job.Ack(AckAccept)
		worker.FlushAcks(atMost)
		return
	}
	fmt.Println(name, "gets nothing")
}

func main() {
	worker := member()
	work("the worker", worker, 0) // So that the group begins here.
	worker.ProduceSync(context.TODO(), StringRecord("a job"))
	work("the worker", worker, 3*time.Second)
	work("the worker", worker, 0)
	work("the worker", worker, 0)
	work("another one", member(), 0)
}
