// Driver: confluent-kafka-go, of the package github.com/confluentinc/confluent-kafka-go/v2

// Drives confluent-kafka-go, which wraps librdkafka: docs/drivers.md.
package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"driver/lines"
)

const module = "github.com/confluentinc/confluent-kafka-go/v2"

// Of those that one can't know from the text, which is the name of all others.
var names = map[kafka.ErrorCode]string{
	kafka.ErrIllegalGeneration:        "ErrIllegalGeneration",
	kafka.ErrNoOffset:                 "ErrNoOffset",
	kafka.ErrRebalanceInProgress:      "ErrRebalanceInProgress",
	kafka.ErrStaleMemberEpoch:         "ErrStaleMemberEpoch",
	kafka.ErrUnknownMemberID:          "ErrUnknownMemberID",
	kafka.ErrInvalidProducerEpoch:     "ErrInvalidProducerEpoch",
	kafka.ErrOutOfOrderSequenceNumber: "ErrOutOfOrderSequenceNumber",
}

// Settings, and librdkafka's names if these are others.
var (
	produces = named(map[string]string{
		"delivery.timeout.ms": "message.timeout.ms",
		"max.request.size":    "message.max.bytes",
	}, "acks", "compression.type", "enable.idempotence", "linger.ms", "max.in.flight.requests.per.connection",
		"transaction.timeout.ms", "transactional.id")
	consumes = named(map[string]string{
		"fetch.max.wait.ms": "fetch.wait.max.ms",
	}, "auto.commit.interval.ms", "auto.offset.reset", "enable.auto.commit", "group.id", "group.instance.id",
		"group.protocol", "heartbeat.interval.ms", "isolation.level", "max.poll.interval.ms",
		"partition.assignment.strategy", "session.timeout.ms")
)

func named(others map[string]string, same ...string) map[string]string {
	others["metadata.max.age.ms"] = "topic.metadata.refresh.interval.ms"
	others["request.timeout.ms"] = "socket.timeout.ms"
	common := []string{
		"bootstrap.servers", "client.id", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "retry.backoff.ms",
	}
	for _, name := range slices.Concat(same, common, lines.Tokens) {
		others[name] = name
	}
	return others
}

func configured(config lines.Config, names map[string]string) *kafka.ConfigMap {
	set := kafka.ConfigMap{"go.logs.channel.enable": false}
	for name, own := range names {
		if text, given := config.Text(name); given {
			set[own] = text
		}
	}
	return &set
}

func described(err error) lines.Error {
	said := lines.Named(err, nil)
	told := kafka.Error{}
	if !errors.As(err, &told) {
		return said
	}
	code := told.Code()
	// What is refused after a fatal error says only that there was one.
	fatal, retriable, abortable := told.IsFatal() || code == kafka.ErrFatal, told.IsRetriable(), told.TxnRequiresAbort()
	said.Name, said.Fatal, said.Retriable, said.Abortable = code.String(), &fatal, &retriable, &abortable
	if name, known := names[code]; known {
		said.Name = name
	}
	if number := int16(code); number > 0 {
		said.Code = &number
	}
	return said
}

func places(given []lines.At) []kafka.TopicPartition {
	found := []kafka.TopicPartition{}
	for _, each := range given {
		place := kafka.TopicPartition{Topic: &each.Topic, Partition: each.Partition, Offset: kafka.OffsetInvalid}
		if each.Offset != nil {
			place.Offset = kafka.Offset(*each.Offset)
		}
		found = append(found, place)
	}
	return found
}

func pairs(given []kafka.TopicPartition) [][]any {
	found := [][]any{}
	for _, each := range given {
		found = append(found, []any{*each.Topic, each.Partition})
	}
	return found
}

// offsets are those that the client found; it has an error for each partition.
func offsets(given []kafka.TopicPartition, err error) (lines.Fields, error) {
	found := [][]any{}
	for _, each := range given {
		err = errors.Join(err, each.Error)
		row := []any{*each.Topic, each.Partition, nil}
		if each.Offset >= 0 {
			row[2] = int64(each.Offset)
		}
		found = append(found, row)
	}
	return lines.Fields{"offsets": found}, err
}

func main() {
	_, librdkafka := kafka.LibraryVersion()
	(&lines.Driver{
		Client: "confluent-kafka-go " + lines.Version(module) + " (librdkafka " + strings.Split(librdkafka, "-")[0] + ")",
		Capabilities: slices.Concat(
			[]string{
				"groups", "assign", "group-assign", "idempotence", "transactions", "send-offsets", "consumer-protocol", "pause",
				"patterns", "headers", "seek", "offsets-for-times", "at-once", "ends-at-once", "commit-at-once",
				"admin", "create-partitions", "delete-topic", "alter-config", "describe-config", "delete-records", "list-offsets",
			},
			lines.Taking("compression.type", "gzip", "snappy", "lz4", "zstd"),
			lines.Taking("partition.assignment.strategy", "range", "roundrobin", "cooperative-sticky"),
		),
		Settings: map[string][]string{
			"producer": slices.Sorted(maps.Keys(produces)),
			"consumer": append(slices.Sorted(maps.Keys(consumes)), most),
			"admin":    slices.Sorted(maps.Keys(administers)),
		},
		Open: map[string]func(*lines.Call, lines.Event) (lines.Verbs, error){
			"producer": openProducer,
			"consumer": openConsumer,
			"admin":    openAdmin,
		},
		Describe: described,
	}).Serve()
}
