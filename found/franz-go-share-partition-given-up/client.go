// A worker takes longer for a job than it has it for, and says that the job is done. Then there is another job.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	. "github.com/twmb/franz-go/pkg/kmsg"
)

func client(options ...kgo.Opt) *kgo.Client {
	made, _ := kgo.NewClient(append(options, kgo.SeedBrokers(os.Getenv("BOOTSTRAP_SERVERS")))...)
	return made
}

func work(name string, worker *kgo.Client, takes time.Duration) {
	ctx, cancel := context.WithTimeout(context.TODO(), 15*time.Second)
	defer cancel()
	for _, job := range worker.PollFetches(ctx).Records() {
		fmt.Println(name, "takes", string(job.Value))
		time.Sleep(takes)
		job.Ack(kgo.AckAccept)
		worker.FlushAcks(context.TODO())
		return
	}
	fmt.Println(name, "gets nothing")
}

func main() {
	told := kgo.ShareAckCallback(func(_ *kgo.Client, all kgo.ShareAckResults) { fmt.Println("it is done:", all[0].Err) })
	member := []kgo.Opt{kgo.ShareGroup("workers"), kgo.ConsumeTopics("jobs"), told}
	earliest, admin := "earliest", client(kgo.DefaultProduceTopic("jobs"))
	from := IncrementalAlterConfigsRequestResourceConfig{Name: "share.auto.offset.reset", Value: &earliest}
	group := IncrementalAlterConfigsRequestResource{ConfigResourceTypeGroupConfig, "workers", []IncrementalAlterConfigsRequestResourceConfig{from}, Tags{}}
	(&IncrementalAlterConfigsRequest{Resources: []IncrementalAlterConfigsRequestResource{group}}).RequestWith(context.TODO(), admin)
	admin.ProduceSync(context.TODO(), kgo.StringRecord("job 1"))
	worker := client(member...)
	work("the worker", worker, 3*time.Second)
	work("the worker", worker, 0)
	admin.ProduceSync(context.TODO(), kgo.StringRecord("job 2"))
	work("the worker", worker, 0)
	work("another one", client(member...), 0)
}
