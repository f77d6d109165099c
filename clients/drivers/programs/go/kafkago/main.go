// Driver: kafka-go, of the package github.com/segmentio/kafka-go

// Drives segmentio's kafka-go: docs/drivers.md. It has neither idempotent producers nor transactions, and its
// Reader does not tell which partitions a member of a group has.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"

	"github.com/segmentio/kafka-go"

	"driver/lines"
)

const module = "github.com/segmentio/kafka-go"

// By name, because a value of errors.New has none.
var names = map[error]string{
	context.DeadlineExceeded: "DeadlineExceeded",
	context.Canceled:         "Canceled",
	io.EOF:                   "EOF",
	io.ErrUnexpectedEOF:      "ErrUnexpectedEOF",
	io.ErrClosedPipe:         "ErrClosedPipe",
	io.ErrNoProgress:         "ErrNoProgress",
	kafka.ErrGroupClosed:     "ErrGroupClosed",
	kafka.ErrGenerationEnded: "ErrGenerationEnded",
}

var logger = log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds)

func described(err error) lines.Error {
	said := lines.Named(err, names)
	if told := kafka.Error(0); errors.As(err, &told) {
		code, temporary := int16(told), told.Temporary()
		said.Name, said.Code, said.Retriable = told.Title(), &code, &temporary
	}
	return said
}

func main() {
	(&lines.Driver{
		Client:       "kafka-go " + lines.Version(module),
		Capabilities: []string{"groups", "assign"},
		Settings: map[string][]string{
			"producer": append([]string{
				"acks", "bootstrap.servers", "client.id", "compression.type", "linger.ms", "max.request.size",
				"request.timeout.ms", "retry.backoff.ms",
			}, lines.Security...),
			"consumer": append([]string{
				"auto.offset.reset", "bootstrap.servers", "client.id", "enable.auto.commit", "fetch.max.wait.ms",
				"group.id", "heartbeat.interval.ms", "isolation.level", "max.poll.interval.ms",
				"request.timeout.ms", "retry.backoff.ms", "session.timeout.ms",
			}, lines.Security...),
		},
		Open: map[string]func(*lines.Call, lines.Event) (lines.Verbs, error){
			"producer": openProducer,
			"consumer": openConsumer,
		},
		Describe: described,
	}).Serve()
}
