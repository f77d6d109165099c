package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"driver/lines"
)

const (
	mostRecords = 500
	// How long poll waits for a message after another.
	ready = 5 * time.Millisecond
	watch = time.Second
	// How long poll waits for the commit of a message.
	commitLimit = time.Second
)

var errNothing = errors.New("neither subscribe nor assign was called")

type place struct {
	topic     string
	partition int
}

// consumer has a Reader for a group, or one for each partition.
type consumer struct {
	config    lines.Config
	transport *kafka.Transport
	readers   map[place]*kafka.Reader
	grouped   *kafka.Reader
	// The last message that a poll gave of each partition, unless it is committed.
	given map[place]kafka.Message
}

func openConsumer(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	transport, err := newTransport(call.Config)
	if err != nil {
		return nil, err
	}
	c := &consumer{config: call.Config, transport: transport}
	return lines.Verbs{
		"subscribe": c.subscribe,
		"assign":    c.assign,
		"poll":      c.poll,
		"commit":    c.commit,
		"committed": c.committed,
		"position":  c.position,
		"seek":      c.seek,
		"close":     func(*lines.Call) (lines.Fields, error) { return nil, c.close() },
	}, nil
}

func (c *consumer) reading() kafka.ReaderConfig {
	dialer := &kafka.Dialer{Timeout: kafka.DefaultDialer.Timeout, DualStack: kafka.DefaultDialer.DualStack}
	dialer.ClientID, dialer.TLS, dialer.SASLMechanism = c.transport.ClientID, c.transport.TLS, c.transport.SASL
	set := kafka.ReaderConfig{
		Brokers: c.config.Servers(), Dialer: dialer, Logger: logger, ErrorLogger: logger,
		StartOffset: c.start(),
	}
	if c.config.Is("isolation.level", "read_committed") {
		set.IsolationLevel = kafka.ReadCommitted
	}
	if c.config.Is("auto.offset.reset", "none") {
		set.OffsetOutOfRangeError = true
	}
	if limit, given := c.config.Time("request.timeout.ms"); given {
		dialer.Timeout = limit
	}
	if wait, given := c.config.Time("fetch.max.wait.ms"); given {
		set.MaxWait = wait
	}
	if backoff, given := c.config.Time("retry.backoff.ms"); given {
		set.JoinGroupBackoff, set.ReadBackoffMin, set.ReadBackoffMax = backoff, backoff, backoff
	}
	if limit, given := c.config.Time("session.timeout.ms"); given {
		set.SessionTimeout = limit
	}
	if interval, given := c.config.Time("heartbeat.interval.ms"); given {
		set.HeartbeatInterval = interval
	}
	if limit, given := c.config.Time("max.poll.interval.ms"); given {
		set.RebalanceTimeout = limit
	}
	return set
}

func (c *consumer) start() int64 {
	if c.config.Is("auto.offset.reset", "latest") {
		return kafka.LastOffset
	}
	return kafka.FirstOffset
}

func (c *consumer) group() string {
	group, _ := c.config.Text("group.id")
	return group
}

func (c *consumer) close() error {
	var err error
	for _, reader := range c.readers {
		err = errors.Join(err, reader.Close())
	}
	c.readers, c.grouped, c.given = map[place]*kafka.Reader{}, nil, map[place]kafka.Message{}
	c.transport.CloseIdleConnections()
	return err
}

func (c *consumer) subscribe(call *lines.Call) (lines.Fields, error) {
	set := c.reading()
	set.GroupID, set.GroupTopics = c.group(), call.Topics
	// Without it a group never gets a topic that was unknown to the broker its leader asked, for whatever reason.
	set.WatchPartitionChanges, set.PartitionWatchInterval = true, watch
	if err := errors.Join(set.Validate(), c.close()); err != nil {
		return nil, err
	}
	c.grouped = kafka.NewReader(set)
	c.readers[place{}] = c.grouped
	return nil, nil
}

func (c *consumer) assign(call *lines.Call) (lines.Fields, error) {
	if err := c.close(); err != nil {
		return nil, err
	}
	for _, each := range call.Partitions.List {
		set, from := c.reading(), c.start()
		set.Topic, set.Partition = each.Topic, int(each.Partition)
		if err := set.Validate(); err != nil {
			return nil, err
		}
		if each.Offset != nil {
			from = *each.Offset
		}
		reader := kafka.NewReader(set)
		c.readers[place{set.Topic, set.Partition}] = reader
		if err := reader.SetOffset(from); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (c *consumer) poll(call *lines.Call) (lines.Fields, error) {
	if len(c.readers) == 0 {
		return nil, errNothing
	}
	records, told := []lines.Fields{}, []lines.Error{}
	for limit := call.Timeout(0); len(records) < mostRecords; limit = ready {
		messages, errs := c.next(limit)
		for _, each := range messages {
			c.given[place{each.Topic, each.Partition}] = each
			records = append(records, lines.Record(
				each.Topic, int32(each.Partition), each.Offset, each.Key, each.Value, nil,
			))
		}
		for _, each := range errs {
			told = append(told, described(each))
		}
		if len(messages) == 0 || len(errs) > 0 {
			break
		}
	}
	return lines.Fields{"records": records, "errors": told}, nil
}

// next has the next message of each reader, as soon as one of them has one.
func (c *consumer) next(limit time.Duration) (messages []kafka.Message, errs []error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var lock sync.Mutex
	var done sync.WaitGroup
	for _, reader := range c.readers {
		done.Go(func() {
			message, err := reader.FetchMessage(ctx)
			ended := ctx.Err() != nil
			fetched := err == nil
			if fetched {
				ended, err = c.autoCommit(reader, message)
			}
			lock.Lock()
			defer lock.Unlock()
			if fetched {
				messages = append(messages, message)
				cancel()
			}
			if err != nil && !ended {
				errs = append(errs, err)
				cancel()
			}
		})
	}
	done.Wait()
	return messages, errs
}

// autoCommit commits as ReadMessage does, which loses a message if its context ends meanwhile. It is late if there was no
// time; then the next commit has the offset, too.
func (c *consumer) autoCommit(reader *kafka.Reader, message kafka.Message) (late bool, err error) {
	if reader != c.grouped || c.config.Is("enable.auto.commit", "false") {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitLimit)
	defer cancel()
	err = reader.CommitMessages(ctx, message)
	return ctx.Err() != nil, err
}

func (c *consumer) commit(call *lines.Call) (lines.Fields, error) {
	if c.grouped == nil {
		return nil, errNothing
	}
	ctx, cancel := call.Context()
	defer cancel()
	messages := []kafka.Message{}
	if call.Offsets == nil {
		for _, each := range c.given {
			messages = append(messages, each)
		}
	}
	for _, each := range call.Offsets {
		// What is committed is one more than the message's offset.
		messages = append(messages, kafka.Message{
			Topic: each.Topic, Partition: int(each.Partition), Offset: *each.Offset - 1,
		})
	}
	err := c.grouped.CommitMessages(ctx, messages...)
	if err == nil {
		clear(c.given)
	}
	return nil, err
}

func (c *consumer) committed(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	asked := map[string][]int{}
	for _, each := range call.Partitions.List {
		asked[each.Topic] = append(asked[each.Topic], int(each.Partition))
	}
	client := kafka.Client{Addr: kafka.TCP(c.config.Servers()...), Transport: c.transport}
	response, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: c.group(), Topics: asked})
	if err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, response.Error
	}
	found := [][]any{}
	for topic, partitions := range response.Topics {
		for _, each := range partitions {
			if each.Error != nil {
				return nil, each.Error
			}
			found = append(found, at(topic, each.Partition, each.CommittedOffset))
		}
	}
	return lines.Fields{"offsets": found}, nil
}

// A group's Reader has no position: it says -1.
func (c *consumer) position(call *lines.Call) (lines.Fields, error) {
	found := [][]any{}
	for _, each := range call.Partitions.List {
		offset := int64(-1)
		if reader := c.readers[place{each.Topic, int(each.Partition)}]; reader != nil {
			offset = reader.Offset()
		}
		found = append(found, at(each.Topic, int(each.Partition), offset))
	}
	return lines.Fields{"offsets": found}, nil
}

func (c *consumer) seek(call *lines.Call) (lines.Fields, error) {
	reader := c.grouped
	if reader == nil {
		reader = c.readers[place{call.Topic, int(*call.Partition)}]
	}
	if reader == nil {
		return nil, errNothing
	}
	return nil, reader.SetOffset(call.Offset)
}

func at(topic string, partition int, offset int64) []any {
	if offset < 0 {
		return []any{topic, partition, nil}
	}
	return []any{topic, partition, offset}
}
