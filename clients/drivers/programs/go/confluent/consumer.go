package main

import (
	"sync"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"driver/lines"
)

// Librdkafka has no such setting: an application polls as often as it wants.
const (
	most        = "max.poll.records"
	mostRecords = 500
)

// Only the client of a classic group may be given these.
var classicOnly = []string{"heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms"}

// Consumers by handle, for the producers that send their offsets.
var members sync.Map

type consumer struct {
	*kafka.Consumer
	config lines.Config
	event  lines.Event
}

func openConsumer(call *lines.Call, event lines.Event) (lines.Verbs, error) {
	set := *configured(call.Config, consumes)
	if _, given := set["group.id"]; !given {
		set["group.id"] = "none" // it insists on a group, even if it is assigned its partitions
	}
	if set["auto.offset.reset"] == "none" {
		set["auto.offset.reset"] = "error"
	}
	if set["group.protocol"] == "consumer" {
		for _, name := range classicOnly {
			delete(set, name)
		}
	}
	client, err := kafka.NewConsumer(&set)
	if err != nil {
		return nil, err
	}
	c := &consumer{client, call.Config, event}
	members.Store(call.Handle, client)
	return lines.Verbs{
		"subscribe": func(call *lines.Call) (lines.Fields, error) {
			return nil, client.SubscribeTopics(call.Topics, c.rebalanced)
		},
		"assign": func(call *lines.Call) (lines.Fields, error) {
			return nil, client.Assign(places(call.Partitions.List))
		},
		"poll":   c.poll,
		"commit": c.commit,
		"committed": func(call *lines.Call) (lines.Fields, error) {
			return offsets(client.Committed(places(call.Partitions.List), ms(call)))
		},
		"position": func(call *lines.Call) (lines.Fields, error) {
			return offsets(client.Position(places(call.Partitions.List)))
		},
		"seek": func(call *lines.Call) (lines.Fields, error) {
			return nil, client.Seek(sought(call), ms(call))
		},
		"offsets-for-times": func(call *lines.Call) (lines.Fields, error) {
			return offsets(client.OffsetsForTimes(places(call.Partitions.List), ms(call)))
		},
		"pause": func(call *lines.Call) (lines.Fields, error) {
			return nil, client.Pause(places(call.Partitions.List))
		},
		"resume": func(call *lines.Call) (lines.Fields, error) {
			return nil, client.Resume(places(call.Partitions.List))
		},
		"close": func(call *lines.Call) (lines.Fields, error) {
			members.Delete(call.Handle)
			return nil, client.Close()
		},
	}, nil
}

func sought(call *lines.Call) kafka.TopicPartition {
	at := kafka.TopicPartition{Topic: &call.Topic, Partition: *call.Partition, Offset: kafka.Offset(call.Offset)}
	switch call.To {
	case "beginning":
		at.Offset = kafka.OffsetBeginning
	case "end":
		at.Offset = kafka.OffsetEnd
	}
	return at
}

func ms(call *lines.Call) int { return int(call.Timeout(30 * time.Second).Milliseconds()) }

func (c *consumer) rebalanced(client *kafka.Consumer, event kafka.Event) error {
	switch said := event.(type) {
	case kafka.AssignedPartitions:
		c.event("assigned", lines.Fields{"partitions": pairs(said.Partitions)})
	case kafka.RevokedPartitions:
		how := "revoked"
		if client.AssignmentLost() {
			how = "lost"
		}
		c.event(how, lines.Fields{"partitions": pairs(said.Partitions)})
	}
	return nil
}

func (c *consumer) poll(call *lines.Call) (lines.Fields, error) {
	limit, given := c.config.Int(most)
	if !given {
		limit = mostRecords
	}
	records, told := []lines.Fields{}, []lines.Error{}
	for wait := ms(call); len(records) < limit; wait = 0 {
		said := c.Poll(wait)
		if said == nil { // also when the group has rebalanced
			break
		}
		switch said := said.(type) {
		case *kafka.Message:
			at := said.TopicPartition
			if at.Error != nil {
				told = append(told, described(at.Error))
				break
			}
			headers := []lines.Header{}
			for _, each := range said.Headers {
				headers = append(headers, lines.Header{Name: each.Key, Value: each.Value})
			}
			records = append(records, lines.Record(*at.Topic, at.Partition, int64(at.Offset), said.Key, said.Value, headers))
		case kafka.Error:
			told = append(told, described(said))
		}
	}
	return lines.Fields{"records": records, "errors": told}, nil
}

func (c *consumer) commit(call *lines.Call) (lines.Fields, error) {
	var committed []kafka.TopicPartition
	var err error
	if call.Offsets == nil {
		committed, err = c.Commit()
	} else {
		committed, err = c.CommitOffsets(places(call.Offsets))
	}
	_, err = offsets(committed, err)
	return nil, err
}
