package main

import (
	"context"

	"github.com/segmentio/kafka-go"

	"driver/lines"
)

func openProducer(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	for _, name := range []string{"transactional.id", "enable.idempotence"} {
		if _, given := call.Config.Text(name); given && !call.Config.Is(name, "false") {
			return nil, lines.Unsupported("kafka-go has no " + name)
		}
	}
	unanswered := &lines.Unanswered{}
	answer := func(call *lines.Call, message kafka.Message, err error) {
		call.Answer(lines.Fields{"partition": message.Partition, "offset": message.Offset}, err)
		unanswered.Answered()
	}
	transport, err := newTransport(call.Config)
	if err != nil {
		return nil, err
	}
	writer := newWriter(call.Config)
	writer.Transport = transport
	writer.Completion = func(messages []kafka.Message, err error) {
		for _, each := range messages {
			answer(each.WriterData.(*lines.Call), each, err)
		}
	}
	return lines.Verbs{
		"produce": func(call *lines.Call) (lines.Fields, error) {
			message := kafka.Message{Topic: call.Topic, Key: call.Key, Value: call.Value, WriterData: call}
			unanswered.Asked()
			if err := writer.WriteMessages(context.Background(), message); err != nil {
				answer(call, message, err) // no Completion comes
			}
			return nil, lines.ErrLater
		},
		"flush": unanswered.Flush,
		"close": func(*lines.Call) (lines.Fields, error) {
			return nil, writer.Close()
		},
	}, nil
}

func newWriter(config lines.Config) *kafka.Writer {
	writer := &kafka.Writer{
		Addr:        kafka.TCP(config.Servers()...),
		Balancer:    balancer{&kafka.RoundRobin{}},
		Async:       true,
		Logger:      logger,
		ErrorLogger: logger,
	}
	switch acks, _ := config.Text("acks"); acks {
	case "all", "-1":
		writer.RequiredAcks = kafka.RequireAll
	case "1":
		writer.RequiredAcks = kafka.RequireOne
	}
	if linger, given := config.Time("linger.ms"); given {
		writer.BatchTimeout = max(linger, 1)
	}
	if backoff, given := config.Time("retry.backoff.ms"); given {
		writer.WriteBackoffMin, writer.WriteBackoffMax = backoff, backoff
	}
	if limit, given := config.Time("request.timeout.ms"); given {
		writer.ReadTimeout, writer.WriteTimeout = limit, limit
	}
	if name, given := config.Text("compression.type"); given {
		_ = writer.Compression.UnmarshalText([]byte(name))
	}
	if limit, given := config.Int("max.request.size"); given {
		writer.BatchBytes = int64(limit)
	}
	return writer
}

// The client's default, but for messages that have a partition.
type balancer struct{ kafka.Balancer }

func (b balancer) Balance(message kafka.Message, partitions ...int) int {
	if call := message.WriterData.(*lines.Call); call.Partition != nil {
		return int(*call.Partition)
	}
	return b.Balancer.Balance(message, partitions...)
}
