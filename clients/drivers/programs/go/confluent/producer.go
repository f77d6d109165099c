package main

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"driver/lines"
)

const lastMs = 1000

// barrier goes the way of deliveries: those that the client has told of before are answered once it is closed.
type barrier chan struct{}

func (barrier) String() string { return "barrier" }

type producer struct {
	*kafka.Producer
	told chan kafka.Event
}

func openProducer(call *lines.Call, event lines.Event) (lines.Verbs, error) {
	client, err := kafka.NewProducer(configured(call.Config, produces))
	if err != nil {
		return nil, err
	}
	if _, given := call.Config.Text("transactional.id"); given {
		ctx, cancel := call.Context()
		defer cancel()
		if err := client.InitTransactions(ctx); err != nil {
			go tell(client, event)
			client.Close()
			return nil, err
		}
	}
	p := &producer{client, make(chan kafka.Event)}
	go tell(client, event)
	go p.answer()
	return lines.Verbs{
		"produce": p.produce,
		"flush":   p.flush,
		"begin": func(*lines.Call) (lines.Fields, error) {
			return nil, client.BeginTransaction()
		},
		"send-offsets":       p.sendOffsets,
		"commit-transaction": p.commit,
		"abort-transaction":  p.abort,
		"close":              p.close,
	}, nil
}

// tell passes on what the client has to say beside deliveries.
func tell(client *kafka.Producer, event lines.Event) {
	for each := range client.Events() {
		if said, is := each.(kafka.Error); is {
			event("error", lines.Fields{"error": described(said)})
		}
	}
}

// answer ends with the channel.
func (p *producer) answer() {
	for each := range p.told {
		switch said := each.(type) {
		case *kafka.Message:
			at := said.TopicPartition
			said.Opaque.(*lines.Call).Answer(lines.Fields{"partition": at.Partition, "offset": at.Offset}, at.Error)
		case barrier:
			close(said)
		}
	}
}

func (p *producer) produce(call *lines.Call) (lines.Fields, error) {
	at := kafka.TopicPartition{Topic: &call.Topic, Partition: kafka.PartitionAny}
	if call.Partition != nil {
		at.Partition = *call.Partition
	}
	message := &kafka.Message{TopicPartition: at, Key: call.Key, Value: call.Value, Opaque: call}
	for _, each := range call.Headers {
		message.Headers = append(message.Headers, kafka.Header{Key: each.Name, Value: each.Value})
	}
	if err := p.Produce(message, p.told); err != nil {
		return nil, err
	}
	return nil, lines.ErrLater
}

func (p *producer) flush(call *lines.Call) (lines.Fields, error) {
	left := p.Flush(ms(call))
	p.settle()
	return lines.Fields{"left": left}, nil
}

// settle has what the client has told of so far answered first.
func (p *producer) settle() {
	answered := make(barrier)
	p.told <- answered
	<-answered
}

func (p *producer) sendOffsets(call *lines.Call) (lines.Fields, error) {
	member, known := members.Load(call.Consumer)
	if !known {
		return nil, lines.Unsupported(call.Consumer + " is no consumer")
	}
	group, err := member.(*kafka.Consumer).GetConsumerGroupMetadata()
	if err != nil {
		return nil, err
	}
	ctx, cancel := call.Context()
	defer cancel()
	return nil, p.SendOffsetsToTransaction(ctx, places(call.Offsets), group)
}

func (p *producer) commit(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	err := p.CommitTransaction(ctx)
	p.settle()
	return nil, err
}

func (p *producer) abort(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	err := p.AbortTransaction(ctx)
	p.settle()
	return nil, err
}

func (p *producer) close(call *lines.Call) (lines.Fields, error) {
	p.Flush(ms(call))
	err := p.Purge(kafka.PurgeQueue | kafka.PurgeInFlight)
	p.Flush(lastMs)
	p.Close()
	close(p.told)
	return nil, err
}
