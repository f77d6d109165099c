package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"

	"driver/lines"
)

var (
	errNothing   = errors.New("neither subscribe nor assign was called")
	errNoSession = errors.New("there is no session: the group rebalances")
)

// consumer is what sarama pushes messages to, and poll takes them from.
type consumer struct {
	config lines.Config
	event  lines.Event
	client sarama.Client
	taken  *taken
	member *member
	reader *reader
}

func openConsumer(call *lines.Call, event lines.Event) (lines.Verbs, error) {
	set, err := configured(call.Config)
	if err != nil {
		return nil, err
	}
	client, err := sarama.NewClient(call.Config.Servers(), set)
	if err != nil {
		return nil, err
	}
	c := &consumer{config: call.Config, event: event, client: client, taken: newTaken()}
	return lines.Verbs{
		"subscribe": c.subscribe,
		"assign":    c.assign,
		"poll":      c.poll,
		"commit":    c.commit,
		"committed": c.committed,
		"seek":      c.seek,
		"close": func(call *lines.Call) (lines.Fields, error) {
			members.Delete(call.Handle)
			return nil, errors.Join(c.stop(), client.Close())
		},
	}, nil
}

var strategies = map[string]func() sarama.BalanceStrategy{
	sarama.RangeBalanceStrategyName:      sarama.NewBalanceStrategyRange,
	sarama.RoundRobinBalanceStrategyName: sarama.NewBalanceStrategyRoundRobin,
	sarama.StickyBalanceStrategyName:     sarama.NewBalanceStrategySticky,
}

func consuming(set *sarama.Config, config lines.Config) {
	switch reset, _ := config.Text("auto.offset.reset"); reset {
	case "earliest":
		set.Consumer.Offsets.Initial = sarama.OffsetOldest
	case "latest":
		set.Consumer.Offsets.Initial = sarama.OffsetNewest
	case "none":
		set.Consumer.Group.ResetInvalidOffsets = false
	}
	if config.Is("isolation.level", "read_committed") {
		set.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	if config.Is("enable.auto.commit", "false") {
		set.Consumer.Offsets.AutoCommit.Enable = false
	}
	if wait, given := config.Time("fetch.max.wait.ms"); given {
		set.Consumer.MaxWaitTime = wait
	}
	if limit, given := config.Time("session.timeout.ms"); given {
		set.Consumer.Group.Session.Timeout = limit
	}
	if interval, given := config.Time("heartbeat.interval.ms"); given {
		set.Consumer.Group.Heartbeat.Interval = interval
	}
	if name, given := config.Text(assignor); given {
		set.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[name]()}
	}
	if id, given := config.Text("group.instance.id"); given {
		set.Consumer.Group.InstanceId = id
	}
	if limit, given := config.Time("max.poll.interval.ms"); given {
		set.Consumer.Group.Rebalance.Timeout = limit
	}
}

func (c *consumer) stop() error {
	var err error
	if c.member != nil {
		err = c.member.close()
	}
	if c.reader != nil {
		err = errors.Join(err, c.reader.close())
	}
	c.member, c.reader = nil, nil
	return err
}

func (c *consumer) subscribe(call *lines.Call) (lines.Fields, error) {
	if err := c.stop(); err != nil {
		return nil, err
	}
	group, _ := c.config.Text("group.id")
	client, err := sarama.NewConsumerGroupFromClient(group, c.client)
	if err != nil {
		return nil, err
	}
	c.member = newMember(group, client, c.taken, c.event)
	members.Store(call.Handle, c.member)
	go c.member.consume(call.Topics)
	return nil, nil
}

func (c *consumer) assign(call *lines.Call) (lines.Fields, error) {
	err := c.stop()
	if err == nil {
		c.reader, err = newReader(c.client, c.taken, call.Partitions.List)
	}
	return nil, err
}

func (c *consumer) poll(call *lines.Call) (lines.Fields, error) {
	switch {
	case c.member != nil:
		c.member.polled()
	case c.reader == nil:
		return nil, errNothing
	case !c.config.Is("auto.offset.reset", "none"):
		if err := c.reader.reset(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := call.Context()
	defer cancel()
	c.taken.poll(ctx, call)
	return nil, lines.ErrLater
}

func (c *consumer) commit(call *lines.Call) (lines.Fields, error) {
	if c.member == nil {
		return nil, lines.Unsupported("sarama commits for members of a group")
	}
	return nil, c.member.commit(call.Offsets)
}

func (c *consumer) committed(call *lines.Call) (lines.Fields, error) {
	admin, err := sarama.NewClusterAdminFromClient(c.client) // to close it would close the client
	if err != nil {
		return nil, err
	}
	asked := map[string][]int32{}
	for _, each := range call.Partitions.List {
		asked[each.Topic] = append(asked[each.Topic], each.Partition)
	}
	group, _ := c.config.Text("group.id")
	response, err := admin.ListConsumerGroupOffsets(group, asked)
	if err != nil {
		return nil, err
	}
	if response.Err != sarama.ErrNoError {
		return nil, response.Err
	}
	found := [][]any{}
	for _, each := range call.Partitions.List {
		block := response.GetBlock(each.Topic, each.Partition)
		switch {
		case block == nil:
			return nil, sarama.ErrIncompleteResponse
		case block.Err != sarama.ErrNoError:
			return nil, block.Err
		case block.Offset < 0:
			found = append(found, []any{each.Topic, each.Partition, nil})
		default:
			found = append(found, []any{each.Topic, each.Partition, block.Offset})
		}
	}
	return lines.Fields{"offsets": found}, nil
}

func (c *consumer) seek(call *lines.Call) (lines.Fields, error) {
	at := place{call.Topic, *call.Partition}
	switch {
	case c.member != nil:
		return nil, c.member.seek(at, call.Offset)
	case c.reader != nil:
		return nil, c.reader.seek(at, call.Offset)
	}
	return nil, errNothing
}

// reader has partitions that were assigned.
type reader struct {
	client     sarama.Consumer
	initial    int64
	taken      *taken
	partitions map[place]*reading
}

type reading struct {
	sarama.PartitionConsumer
	stop       context.CancelFunc
	done       sync.WaitGroup
	outOfRange atomic.Bool
}

func newReader(client sarama.Client, taken *taken, partitions []lines.At) (*reader, error) {
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return nil, err
	}
	r := &reader{consumer, client.Config().Consumer.Offsets.Initial, taken, map[place]*reading{}}
	for _, each := range partitions {
		from := r.initial
		if each.Offset != nil {
			from = *each.Offset
		}
		if err := r.begin(place{each.Topic, each.Partition}, from); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

func (r *reader) begin(at place, offset int64) error {
	partition, err := r.client.ConsumePartition(at.topic, at.partition, offset)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	reads := &reading{PartitionConsumer: partition, stop: stop}
	r.partitions[at] = reads
	reads.done.Go(func() {
		for message := range partition.Messages() {
			r.taken.give(ctx, message, partition.Messages(), nil)
		}
	})
	reads.done.Go(func() {
		for err := range partition.Errors() {
			if errors.Is(err, sarama.ErrOffsetOutOfRange) {
				reads.outOfRange.Store(true)
			}
			r.taken.tell(err)
		}
	})
	return nil
}

// reset begins again where sarama has ended, because the offset was out of range: it leaves to the application what
// to do then (unlike in a group).
func (r *reader) reset() error {
	for at, reads := range r.partitions {
		if reads.outOfRange.Load() {
			r.finish(reads)
			if err := r.begin(at, r.initial); err != nil {
				return err // the next poll tries again
			}
		}
	}
	return nil
}

func (r *reader) end(at place) {
	reads := r.partitions[at]
	delete(r.partitions, at)
	r.finish(reads)
}

func (r *reader) finish(reads *reading) {
	r.taken.drop(reads.stop)
	reads.AsyncClose()
	reads.done.Wait()
}

func (r *reader) seek(at place, offset int64) error {
	if r.partitions[at] != nil {
		r.end(at)
	}
	return r.begin(at, offset)
}

func (r *reader) close() error {
	for at := range r.partitions {
		r.end(at)
	}
	return r.client.Close()
}
