// Driver: sarama, of the package github.com/IBM/sarama

// Drives sarama: docs/drivers.md.
package main

import (
	"errors"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/IBM/sarama"

	"driver/lines"
)

const (
	module   = "github.com/IBM/sarama"
	codec    = "compression.type"
	assignor = "partition.assignment.strategy"
)

// By name, because a value of errors.New has none.
var names = map[error]string{
	sarama.ErrOutOfBrokers:              "ErrOutOfBrokers",
	sarama.ErrBrokerNotFound:            "ErrBrokerNotFound",
	sarama.ErrClosedClient:              "ErrClosedClient",
	sarama.ErrClosedConsumerGroup:       "ErrClosedConsumerGroup",
	sarama.ErrIncompleteResponse:        "ErrIncompleteResponse",
	sarama.ErrInvalidPartition:          "ErrInvalidPartition",
	sarama.ErrNotConnected:              "ErrNotConnected",
	sarama.ErrShuttingDown:              "ErrShuttingDown",
	sarama.ErrMessageTooLarge:           "ErrMessageTooLarge",
	sarama.ErrConsumerOffsetNotAdvanced: "ErrConsumerOffsetNotAdvanced",
	sarama.ErrAddPartitionsToTxn:        "ErrAddPartitionsToTxn",
	sarama.ErrTxnOffsetCommit:           "ErrTxnOffsetCommit",
	sarama.ErrTransactionNotReady:       "ErrTransactionNotReady",
	sarama.ErrTransitionNotAllowed:      "ErrTransitionNotAllowed",
}

func described(err error) lines.Error {
	said := lines.Named(err, names)
	kafka, told := sarama.KError(0), transactional{}
	if errors.As(err, &kafka) && kafka != sarama.ErrNoError {
		code := int16(kafka)
		said.Code = &code
		if said.Name == "error" { // it wraps one
			said.Name = "sarama.KError"
		}
	}
	if errors.As(err, &told) {
		said = described(told.error)
		said.Fatal, said.Abortable = &told.fatal, &told.abortable
	}
	return said
}

func configured(config lines.Config) (*sarama.Config, error) {
	set := sarama.NewConfig()
	set.Producer.Return.Successes = true
	set.Consumer.Return.Errors = true
	if id, given := config.Text("client.id"); given {
		set.ClientID = id
	}
	if limit, given := config.Time("request.timeout.ms"); given {
		set.Net.DialTimeout, set.Net.ReadTimeout, set.Net.WriteTimeout = limit, limit, limit
		set.Producer.Timeout = limit
	}
	if backoff, given := config.Time("retry.backoff.ms"); given {
		set.Metadata.Retry.Backoff, set.Admin.Retry.Backoff = backoff, backoff
		set.Producer.Retry.Backoff, set.Producer.Transaction.Retry.Backoff = backoff, backoff
		set.Consumer.Retry.Backoff, set.Consumer.Group.Rebalance.Retry.Backoff = backoff, backoff
	}
	producing(set, config)
	consuming(set, config)
	return set, secure(set, config)
}

func main() {
	sarama.Logger = log.New(os.Stderr, "[sarama] ", log.LstdFlags|log.Lmicroseconds)
	(&lines.Driver{
		Client: "sarama " + lines.Version(module),
		Capabilities: slices.Concat(
			[]string{"groups", "idempotence", "transactions", "send-offsets", "assign", "headers", "null-headers",
				"at-once", "ends-at-once",
				"admin", "create-partitions", "delete-topic", "alter-config", "describe-config", "delete-records", "list-offsets"},
			lines.Taking(codec, slices.Sorted(maps.Keys(codecs))...),
			lines.Taking(assignor, slices.Sorted(maps.Keys(strategies))...),
		),
		Settings: map[string][]string{
			"producer": append([]string{
				"acks", "bootstrap.servers", "client.id", codec, "enable.idempotence", "linger.ms", "max.request.size",
				"request.timeout.ms", "retry.backoff.ms", "transaction.timeout.ms", "transactional.id",
			}, lines.Tokens...),
			"admin": append([]string{
				"bootstrap.servers", "client.id", "request.timeout.ms", "retry.backoff.ms",
			}, lines.Tokens...),
			"consumer": append([]string{
				"auto.offset.reset", "bootstrap.servers", "client.id", "enable.auto.commit", "fetch.max.wait.ms",
				"group.id", "group.instance.id", "heartbeat.interval.ms", "isolation.level", "max.poll.interval.ms",
				assignor, "request.timeout.ms", "retry.backoff.ms", "session.timeout.ms",
			}, lines.Tokens...),
		},
		Open: map[string]func(*lines.Call, lines.Event) (lines.Verbs, error){
			"producer": openProducer,
			"consumer": openConsumer,
			"admin":    openAdmin,
		},
		Describe: described,
	}).Serve()
}
