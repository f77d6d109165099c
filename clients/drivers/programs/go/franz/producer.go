package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"driver/lines"
)

const undecided = -1

func openProducer(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	config := call.Config
	options, err := common(config)
	if err != nil {
		return nil, err
	}
	options = append(options, kgo.RecordPartitioner(partitioner{}))
	options = append(options, producing(config)...)
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	if _, given := config.Text("transactional.id"); given {
		ctx, cancel := call.Context()
		defer cancel()
		if _, _, err := client.ProducerID(ctx); err != nil {
			client.Close()
			return nil, err
		}
	}
	failed := &kgo.FirstErrPromise{}
	end := func(how kgo.TransactionEndTry) func(*lines.Call) (lines.Fields, error) {
		return func(call *lines.Call) (lines.Fields, error) {
			ctx, cancel := call.Context()
			defer cancel()
			return nil, endTransaction(ctx, client, failed, how)
		}
	}
	return lines.Verbs{
		"produce": func(call *lines.Call) (lines.Fields, error) {
			record := &kgo.Record{Topic: call.Topic, Partition: undecided, Key: call.Key, Value: call.Value}
			if call.Partition != nil {
				record.Partition = *call.Partition
			}
			for _, each := range call.Headers {
				record.Headers = append(record.Headers, kgo.RecordHeader{Key: each.Name, Value: each.Value})
			}
			noted := failed.Promise()
			client.Produce(context.Background(), record, func(record *kgo.Record, err error) {
				noted(record, err)
				call.Answer(lines.Fields{"partition": record.Partition, "offset": record.Offset}, err)
			})
			return nil, lines.ErrLater
		},
		"flush": func(call *lines.Call) (lines.Fields, error) {
			ctx, cancel := call.Context()
			defer cancel()
			return nil, client.Flush(ctx)
		},
		"begin": func(*lines.Call) (lines.Fields, error) {
			failed = &kgo.FirstErrPromise{}
			return nil, client.BeginTransaction()
		},
		"commit-transaction": end(kgo.TryCommit),
		"abort-transaction":  end(kgo.TryAbort),
		"close": func(call *lines.Call) (lines.Fields, error) {
			ctx, cancel := call.Context()
			defer cancel()
			err := client.Flush(ctx)
			client.Close()
			return nil, err
		},
	}, nil
}

// What franz-go's documentation of transactions does: EndTransaction wants no records to be buffered, and a
// transaction of which a record failed is not committed.
func endTransaction(
	ctx context.Context, client *kgo.Client, failed *kgo.FirstErrPromise, how kgo.TransactionEndTry,
) error {
	if how == kgo.TryAbort {
		if err := client.AbortBufferedRecords(ctx); err != nil {
			return err
		}
	} else if err := client.Flush(ctx); err != nil {
		return err // and the errors of its records would be waited for without end
	} else if err := failed.Err(); err != nil {
		return err
	}
	return client.EndTransaction(ctx, how)
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func producing(config lines.Config) []kgo.Opt {
	options := []kgo.Opt{}
	switch acks, _ := config.Text("acks"); acks {
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	default:
		if config.Is("enable.idempotence", "false") {
			options = append(options, kgo.DisableIdempotentWrite())
		}
	}
	if id, given := config.Text("transactional.id"); given {
		options = append(options, kgo.TransactionalID(id))
	}
	if name, given := config.Text("compression.type"); given {
		options = append(options, kgo.ProducerBatchCompression(codecs[name]))
	}
	if limit, given := config.Time("transaction.timeout.ms"); given {
		options = append(options, kgo.TransactionTimeout(limit))
	}
	if linger, given := config.Time("linger.ms"); given {
		options = append(options, kgo.ProducerLinger(linger))
	}
	if limit, given := config.Time("request.timeout.ms"); given {
		options = append(options, kgo.ProduceRequestTimeout(limit))
	}
	if limit, given := config.Time("delivery.timeout.ms"); given {
		options = append(options, kgo.RecordDeliveryTimeout(limit))
	}
	if limit, given := config.Int("max.request.size"); given {
		options = append(options, kgo.ProducerBatchMaxBytes(int32(limit)))
	}
	return options
}

// The client's default, but for records that have a partition.
type partitioner struct{}

type topicPartitioner struct{ kgo.TopicBackupPartitioner }

func (partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	client := kgo.UniformBytesPartitioner(64<<10, true, true, nil).ForTopic(topic)
	return topicPartitioner{client.(kgo.TopicBackupPartitioner)}
}

func (p topicPartitioner) RequiresConsistency(record *kgo.Record) bool {
	return record.Partition != undecided || p.TopicBackupPartitioner.RequiresConsistency(record)
}

func (p topicPartitioner) PartitionByBackup(record *kgo.Record, n int, backup kgo.TopicBackupIter) int {
	if record.Partition != undecided {
		return int(record.Partition)
	}
	return p.TopicBackupPartitioner.PartitionByBackup(record, n, backup)
}
