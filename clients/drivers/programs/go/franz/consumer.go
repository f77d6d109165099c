package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"driver/lines"
)

const (
	mostRecords = 500
	// How it is asked for by those that have no ServerSideBalancer yet; later ones understand it too.
	consumerProtocol = "opt_in_kafka_next_gen_balancer_beta"
)

const assignor = "partition.assignment.strategy"

var balancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

var errNothing = errors.New("neither subscribe nor assign was called")

// consumer has no client before it is told what to consume: a client is made for a group, or for partitions.
type consumer struct {
	config  lines.Config
	event   lines.Event
	options []kgo.Opt
	client  *kgo.Client
	// SetOffsets is to be called only while no partition is being revoked.
	revokes sync.Mutex
}

func openConsumer(call *lines.Call, event lines.Event) (lines.Verbs, error) {
	c := &consumer{config: call.Config, event: event}
	options, err := common(call.Config)
	if err != nil {
		return nil, err
	}
	c.options = append(options, consuming(call.Config)...)
	if err := kgo.ValidateOpts(c.options...); err != nil {
		return nil, err
	}
	with := func(verb func(*lines.Call) (lines.Fields, error)) func(*lines.Call) (lines.Fields, error) {
		return func(call *lines.Call) (lines.Fields, error) {
			if c.client == nil {
				return nil, errNothing
			}
			return verb(call)
		}
	}
	return lines.Verbs{
		"subscribe": c.subscribe,
		"assign":    c.assign,
		"poll":      with(c.poll),
		"commit":    with(c.commit),
		"committed": with(c.committed),
		"position":  with(c.position),
		"seek":      with(lines.Bounded(c.seek)),
		"pause":     with(c.pause),
		"resume":    with(c.resume),
		"close":     c.close,

		"offsets-for-times": with(lines.Bounded(c.offsetsForTimes)),
	}, nil
}

func consuming(config lines.Config) []kgo.Opt {
	options := []kgo.Opt{}
	switch reset, _ := config.Text("auto.offset.reset"); reset {
	case "earliest":
		options = append(options, kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	case "latest":
		options = append(options, kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
	case "none":
		options = append(options, kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	}
	if config.Is("isolation.level", "read_committed") {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if wait, given := config.Time("fetch.max.wait.ms"); given {
		options = append(options, kgo.FetchMaxWait(wait))
	}
	if age, given := config.Time("metadata.max.age.ms"); given {
		options = append(options, kgo.MetadataMaxAge(age), kgo.MetadataMinAge(age/2))
	}
	if rack, given := config.Text("client.rack"); given {
		options = append(options, kgo.Rack(rack))
	}
	return options
}

func (c *consumer) grouped(topics []string) []kgo.Opt {
	told := func(event string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			c.revokes.Lock()
			defer c.revokes.Unlock()
			c.event(event, lines.Fields{"partitions": lines.Pairs(partitions)})
		}
	}
	group, _ := c.config.Text("group.id")
	options := append(slices.Clone(c.options),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topics...),
		kgo.OnPartitionsAssigned(told("assigned")),
		kgo.OnPartitionsRevoked(told("revoked")),
		kgo.OnPartitionsLost(told("lost")),
	)
	if c.config.Is("enable.auto.commit", "false") {
		options = append(options, kgo.DisableAutoCommit())
	}
	if interval, given := c.config.Time("auto.commit.interval.ms"); given {
		options = append(options, kgo.AutoCommitInterval(interval))
	}
	if id, given := c.config.Text("group.instance.id"); given {
		options = append(options, kgo.InstanceID(id))
	}
	if limit, given := c.config.Time("session.timeout.ms"); given {
		options = append(options, kgo.SessionTimeout(limit))
	}
	if interval, given := c.config.Time("heartbeat.interval.ms"); given {
		options = append(options, kgo.HeartbeatInterval(interval))
	}
	if limit, given := c.config.Time("max.poll.interval.ms"); given {
		options = append(options, kgo.RebalanceTimeout(limit))
	}
	if name, given := c.config.Text(assignor); given {
		options = append(options, kgo.Balancers(balancers[name]()))
	}
	if c.config.Is("group.protocol", "consumer") {
		options = append(options,
			kgo.WithContext(context.WithValue(context.Background(), consumerProtocol, true)),
			kgo.Balancers(kgo.RangeBalancer()),
		)
	}
	return options
}

func (c *consumer) subscribe(call *lines.Call) (lines.Fields, error) {
	if c.client == nil {
		var err error
		options := c.grouped(call.Topics)
		if slices.ContainsFunc(call.Topics, isExpression) {
			options = append(options, kgo.ConsumeRegex())
		}
		c.client, err = kgo.NewClient(options...)
		return nil, err
	}
	gone := slices.DeleteFunc(c.client.GetConsumeTopics(), func(topic string) bool {
		return slices.Contains(call.Topics, topic)
	})
	c.client.PurgeTopicsFromConsuming(gone...)
	c.client.AddConsumeTopics(call.Topics...)
	return nil, nil
}

func isExpression(topic string) bool {
	return strings.HasPrefix(topic, "^")
}

func (c *consumer) assign(call *lines.Call) (lines.Fields, error) {
	wanted := map[string]map[int32]kgo.Offset{}
	for _, each := range call.Partitions.List {
		// Without an offset it is where a client starts that was told no more than auto.offset.reset.
		offset := kgo.NewOffset()
		if each.Offset != nil {
			offset = offset.At(*each.Offset)
		} else if c.config.Is("auto.offset.reset", "latest") {
			offset = offset.AtEnd()
		} else {
			offset = offset.AtStart()
		}
		add(wanted, each, offset)
	}
	if c.client != nil {
		c.client.CloseAllowingRebalance()
	}
	client, err := kgo.NewClient(append(slices.Clone(c.options), kgo.ConsumePartitions(wanted))...)
	c.client = client
	return nil, err
}

func (c *consumer) poll(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	most, given := c.config.Int("max.poll.records")
	if !given {
		most = mostRecords
	}
	fetches := c.client.PollRecords(ctx, most)
	records, told := []lines.Fields{}, []lines.Error{}
	fetches.EachRecord(func(r *kgo.Record) {
		records = append(records, lines.Record(r.Topic, r.Partition, r.Offset, r.Key, r.Value, headers(r)))
	})
	fetches.EachError(func(topic string, _ int32, err error) {
		if topic != "" || !errors.Is(err, context.DeadlineExceeded) {
			told = append(told, described(err))
		}
	})
	return lines.Fields{"records": records, "errors": told}, nil
}

func (c *consumer) commit(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	if call.Offsets == nil {
		return nil, c.client.CommitUncommittedOffsets(ctx)
	}
	var failed error
	c.client.CommitOffsetsSync(ctx, offsets(call.Offsets), func(
		_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error,
	) {
		failed = err
		if err == nil {
			for _, topic := range response.Topics {
				for _, partition := range topic.Partitions {
					failed = errors.Join(failed, kerr.ErrorForCode(partition.ErrorCode))
				}
			}
		}
	})
	return nil, failed
}

// The client remembers the offsets that it read or committed itself; those of the group are asked for as its
// admin client (kadm) does.
func (c *consumer) committed(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	request := kmsg.NewPtrOffsetFetchRequest()
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group, _ = c.config.Text("group.id")
	request.RequireStable = c.config.Is("isolation.level", "read_committed")
	for _, each := range call.Partitions.List {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = each.Topic, []int32{each.Partition}
		group.Topics = append(group.Topics, topic)
	}
	request.Groups = append(request.Groups, group)
	response, err := request.RequestWith(ctx, c.client)
	if err != nil {
		return nil, err
	}
	found := [][]any{}
	for _, group := range response.Groups {
		if err := kerr.ErrorForCode(group.ErrorCode); err != nil {
			return nil, err
		}
		for _, topic := range group.Topics {
			for _, partition := range topic.Partitions {
				if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
					return nil, err
				}
				found = append(found, at(topic.Topic, partition.Partition, partition.Offset))
			}
		}
	}
	return lines.Fields{"offsets": found}, nil
}

// Where the next poll continues, as far as the client tells: it does so for a group's partitions.
func (c *consumer) position(call *lines.Call) (lines.Fields, error) {
	read, committed := c.client.UncommittedOffsets(), c.client.CommittedOffsets()
	found := [][]any{}
	for _, each := range call.Partitions.List {
		offset := int64(-1)
		for _, known := range []map[string]map[int32]kgo.EpochOffset{committed, read} {
			if is, has := known[each.Topic][each.Partition]; has {
				offset = is.Offset
			}
		}
		found = append(found, at(each.Topic, each.Partition, offset))
	}
	return lines.Fields{"offsets": found}, nil
}

// SetOffsets takes an offset only; where a partition begins or ends is asked of the admin client.
func (c *consumer) seek(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	wanted := lines.At{Topic: call.Topic, Partition: *call.Partition, Offset: &call.Offset}
	if ask := c.asking(call.To); ask != nil {
		found, err := listed(ctx, ask, call.Topic, *call.Partition)
		if err != nil {
			return nil, err
		}
		wanted.Offset = &found.Offset
	}
	c.revokes.Lock()
	defer c.revokes.Unlock()
	c.client.SetOffsets(offsets([]lines.At{wanted}))
	return nil, nil
}

func (c *consumer) asking(to string) asking {
	admin := kadm.NewClient(c.client)
	switch {
	case to == "beginning":
		return admin.ListStartOffsets
	case to == "end" && c.config.Is("isolation.level", "read_committed"):
		return admin.ListCommittedOffsets
	case to == "end":
		return admin.ListEndOffsets
	}
	return nil
}

// The admin client answers with the end where no record is that new, and then has no timestamp.
func (c *consumer) offsetsForTimes(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	admin, rows := kadm.NewClient(c.client), [][]any{}
	for _, each := range call.Partitions.List {
		after := func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return admin.ListOffsetsAfterMilli(ctx, *each.Offset, topics...)
		}
		found, err := listed(ctx, after, each.Topic, each.Partition)
		if err != nil {
			return nil, err
		}
		if found.Timestamp < 0 {
			found.Offset = -1
		}
		rows = append(rows, at(each.Topic, each.Partition, found.Offset))
	}
	return lines.Fields{"offsets": rows}, nil
}

func (c *consumer) pause(call *lines.Call) (lines.Fields, error) {
	c.client.PauseFetchPartitions(numbers(call.Partitions.List))
	return nil, nil
}

func (c *consumer) resume(call *lines.Call) (lines.Fields, error) {
	c.client.ResumeFetchPartitions(numbers(call.Partitions.List))
	return nil, nil
}

func (c *consumer) close(*lines.Call) (lines.Fields, error) {
	if c.client != nil {
		c.client.CloseAllowingRebalance()
	}
	return nil, nil
}

func headers(r *kgo.Record) []lines.Header {
	told := []lines.Header{}
	for _, each := range r.Headers {
		told = append(told, lines.Header{Name: each.Key, Value: each.Value})
	}
	return told
}

func add[T any](to map[string]map[int32]T, at lines.At, value T) {
	if to[at.Topic] == nil {
		to[at.Topic] = map[int32]T{}
	}
	to[at.Topic][at.Partition] = value
}

func offsets(given []lines.At) map[string]map[int32]kgo.EpochOffset {
	wanted := map[string]map[int32]kgo.EpochOffset{}
	for _, each := range given {
		add(wanted, each, kgo.EpochOffset{Epoch: -1, Offset: *each.Offset})
	}
	return wanted
}

func numbers(given []lines.At) map[string][]int32 {
	listed := map[string][]int32{}
	for _, each := range given {
		listed[each.Topic] = append(listed[each.Topic], each.Partition)
	}
	return listed
}

func at(topic string, partition int32, offset int64) []any {
	if offset < 0 {
		return []any{topic, partition, nil}
	}
	return []any{topic, partition, offset}
}
