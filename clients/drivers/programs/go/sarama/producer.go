package main

import (
	"sync"

	"github.com/IBM/sarama"

	"driver/lines"
)

const undecided = -1

type producer struct {
	sarama.AsyncProducer
	unanswered lines.Unanswered
	told       sync.WaitGroup
}

func openProducer(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	set, err := configured(call.Config)
	if err != nil {
		return nil, err
	}
	client, err := sarama.NewAsyncProducer(call.Config.Servers(), set)
	if err != nil {
		return nil, err
	}
	p := &producer{AsyncProducer: client}
	p.told.Go(func() {
		for message := range client.Successes() {
			p.answer(message, nil)
		}
	})
	p.told.Go(func() {
		for failed := range client.Errors() {
			p.answer(failed.Msg, failed.Err)
		}
	})
	return lines.Verbs{
		"produce":            p.produce,
		"flush":              p.unanswered.Flush,
		"begin":              p.ending(client.BeginTxn),
		"commit-transaction": p.ending(client.CommitTxn),
		"abort-transaction":  p.ending(client.AbortTxn),
		"send-offsets":       p.sendOffsets,
		"close": func(*lines.Call) (lines.Fields, error) {
			client.AsyncClose()
			p.told.Wait()
			return nil, nil
		},
	}, nil
}

func (p *producer) answer(message *sarama.ProducerMessage, err error) {
	message.Metadata.(*lines.Call).Answer(
		lines.Fields{"partition": message.Partition, "offset": message.Offset}, p.flagged(err),
	)
	p.unanswered.Answered()
}

func (p *producer) produce(call *lines.Call) (lines.Fields, error) {
	message := &sarama.ProducerMessage{Topic: call.Topic, Partition: undecided, Metadata: call}
	if call.Partition != nil {
		message.Partition = *call.Partition
	}
	if call.Key != nil {
		message.Key = sarama.ByteEncoder(call.Key)
	}
	if call.Value != nil {
		message.Value = sarama.ByteEncoder(call.Value)
	}
	for _, each := range call.Headers {
		message.Headers = append(message.Headers, sarama.RecordHeader{Key: []byte(each.Name), Value: each.Value})
	}
	p.unanswered.Asked()
	p.Input() <- message
	return nil, lines.ErrLater
}

func (p *producer) ending(what func() error) func(*lines.Call) (lines.Fields, error) {
	return func(*lines.Call) (lines.Fields, error) {
		return nil, p.flagged(what())
	}
}

func (p *producer) sendOffsets(call *lines.Call) (lines.Fields, error) {
	of, err := metadata(call.Consumer)
	if err != nil {
		return nil, err
	}
	given := map[string][]*sarama.PartitionOffsetMetadata{}
	for _, each := range call.Offsets {
		given[each.Topic] = append(given[each.Topic], &sarama.PartitionOffsetMetadata{
			Partition: each.Partition, Offset: *each.Offset, LeaderEpoch: -1,
		})
	}
	return nil, p.flagged(p.AddOffsetsToTxnWithGroupMetadata(given, of))
}

// transactional is an error together with what the producer says that can be done about it (TxnStatus).
type transactional struct {
	error
	fatal, abortable bool
}

func (p *producer) flagged(err error) error {
	if err == nil || !p.IsTransactional() {
		return err
	}
	status := p.TxnStatus()
	return transactional{
		err, status&sarama.ProducerTxnFlagFatalError != 0, status&sarama.ProducerTxnFlagAbortableError != 0,
	}
}

var codecs = map[string]sarama.CompressionCodec{
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func producing(set *sarama.Config, config lines.Config) {
	set.Producer.Partitioner = newPartitioner
	switch acks, _ := config.Text("acks"); acks {
	case "0":
		set.Producer.RequiredAcks = sarama.NoResponse
	case "1":
		set.Producer.RequiredAcks = sarama.WaitForLocal
	case "all", "-1":
		set.Producer.RequiredAcks = sarama.WaitForAll
	}
	id, transactional := config.Text("transactional.id")
	set.Producer.Transaction.ID = id
	if transactional || config.Is("enable.idempotence", "true") {
		// All three, or it refuses to be idempotent.
		set.Producer.Idempotent = true
		set.Producer.RequiredAcks = sarama.WaitForAll
		set.Net.MaxOpenRequests = 1
	}
	if limit, given := config.Time("transaction.timeout.ms"); given {
		set.Producer.Transaction.Timeout = limit
	}
	if linger, given := config.Time("linger.ms"); given {
		set.Producer.Flush.Frequency = linger
	}
	if name, given := config.Text(codec); given {
		set.Producer.Compression = codecs[name]
	}
	if limit, given := config.Int("max.request.size"); given {
		set.Producer.MaxMessageBytes = limit
	}
}

// The client's default, but for messages that have a partition.
type partitioner struct {
	sarama.DynamicConsistencyPartitioner
}

func newPartitioner(topic string) sarama.Partitioner {
	return partitioner{sarama.NewHashPartitioner(topic).(sarama.DynamicConsistencyPartitioner)}
}

func (p partitioner) MessageRequiresConsistency(message *sarama.ProducerMessage) bool {
	return message.Partition != undecided || p.DynamicConsistencyPartitioner.MessageRequiresConsistency(message)
}

func (p partitioner) Partition(message *sarama.ProducerMessage, n int32) (int32, error) {
	if message.Partition != undecided {
		return message.Partition, nil
	}
	return p.DynamicConsistencyPartitioner.Partition(message, n)
}
