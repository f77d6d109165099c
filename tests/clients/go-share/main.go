// Reads as a member of a share group, with franz-go, and says of records what java-share/Share.java says.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if err := read(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(brokers, group, topic, enough string) error {
	left, err := strconv.Atoi(enough)
	if err != nil {
		return err
	}
	told := make(chan error, 1000)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(brokers, ",")...),
		kgo.ShareGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			if err := results.Error(); err != nil {
				told <- err
			}
		}),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for left > 0 {
		fetches := client.PollRecords(ctx, 100)
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, record := range fetches.Records() {
			said := what(string(record.Value), record.DeliveryCount())
			if said == kgo.AckRenew {
				tell(record, said)
				// It is told again before the next poll, which would accept it.
				if err := client.FlushAcks(ctx); err != nil {
					return err
				}
				said = kgo.AckAccept
			}
			tell(record, said)
			if said != kgo.AckRelease {
				left--
			}
		}
		if err := client.FlushAcks(ctx); err != nil {
			return err
		}
	}
	select {
	case err := <-told:
		return err
	default:
		return nil
	}
}

func what(value string, times int32) kgo.AckStatus {
	switch kind := strings.Fields(value)[0]; {
	case kind == "bad":
		return kgo.AckReject
	case kind == "slow":
		return kgo.AckRenew
	case kind == "again" && times < 3:
		return kgo.AckRelease
	default:
		return kgo.AckAccept
	}
}

func tell(record *kgo.Record, said kgo.AckStatus) {
	record.Ack(said)
	fmt.Printf("%s\t%d\t%s\n", record.Value, record.DeliveryCount(), said)
}
