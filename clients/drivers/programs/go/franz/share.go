package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"driver/lines"
)

const flushLimit = 30 * time.Second

var words = map[string]kgo.AckStatus{
	"accept":  kgo.AckAccept,
	"release": kgo.AckRelease,
	"reject":  kgo.AckReject,
	"renew":   kgo.AckRenew,
}

// share is a member of a share group. It has no client before it is told what to consume.
type share struct {
	options  []kgo.Opt
	most     int
	implicit bool
	client   *kgo.Client
	// The last poll: what is not acknowledged of it, the next one accepts.
	polled []*kgo.Record
	// What a poll has returned, the last of each place.
	held map[place]*kgo.Record
	// What was renewed. The client does not return it again, and accepts it with the next poll.
	renewed []*kgo.Record
	tally   *tally
}

func openShare(call *lines.Call, event lines.Event) (lines.Verbs, error) {
	options, err := common(call.Config)
	if err != nil {
		return nil, err
	}
	s := &share{
		most:     mostRecords,
		implicit: !call.Config.Is("share.acknowledgement.mode", "explicit"),
		held:     map[place]*kgo.Record{},
		tally:    newTally(event),
	}
	if most, given := call.Config.Int("max.poll.records"); given {
		s.most = most
	}
	s.options = append(append(options, sharing(call.Config)...), kgo.ShareAckCallback(s.tally.hear))
	if err := kgo.ValidateOpts(s.options...); err != nil {
		return nil, err
	}
	with := func(verb func(*lines.Call) (lines.Fields, error)) func(*lines.Call) (lines.Fields, error) {
		return func(call *lines.Call) (lines.Fields, error) {
			if s.client == nil {
				return nil, errNothing
			}
			return verb(call)
		}
	}
	return lines.Verbs{
		"subscribe":    s.subscribe,
		"poll":         with(s.poll),
		"acknowledge":  with(s.acknowledge),
		"commit":       with(s.commit),
		"commit-async": with(s.commitAsync),
		"close":        s.close,
	}, nil
}

func sharing(config lines.Config) []kgo.Opt {
	group, _ := config.Text("group.id")
	options := []kgo.Opt{kgo.ShareGroup(group)}
	if most, given := config.Int("max.poll.records"); given {
		options = append(options, kgo.ShareMaxRecords(int32(most)))
	}
	if config.Is("share.acquire.mode", "record_limit") {
		options = append(options, kgo.ShareMaxRecordsStrict())
	}
	if wait, given := config.Time("fetch.max.wait.ms"); given {
		options = append(options, kgo.FetchMaxWait(wait))
	}
	return options
}

func (s *share) subscribe(call *lines.Call) (lines.Fields, error) {
	if s.client == nil {
		client, err := kgo.NewClient(append(slices.Clone(s.options), kgo.ConsumeTopics(call.Topics...))...)
		s.client = client
		return nil, err
	}
	gone := slices.DeleteFunc(s.client.GetConsumeTopics(), func(topic string) bool {
		return slices.Contains(call.Topics, topic)
	})
	s.client.PurgeTopicsFromConsuming(gone...)
	s.client.AddConsumeTopics(call.Topics...)
	return nil, nil
}

func (s *share) poll(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	if len(s.renewed) > 0 {
		return lines.Fields{"records": delivered(s.again(ctx))}, nil
	}
	if s.implicit {
		s.acceptPolled()
	}
	fetches := s.client.PollRecords(ctx, s.most)
	s.polled = fetches.Records()
	for _, record := range s.polled {
		s.held[placeOf(record)] = record
	}
	told := []lines.Error{}
	fetches.EachError(func(topic string, _ int32, err error) {
		if topic != "" || !errors.Is(err, context.DeadlineExceeded) {
			told = append(told, described(err))
		}
	})
	return lines.Fields{"records": delivered(s.polled), "errors": told}, nil
}

// Again returns what was renewed, once brokers have done so; what they have not is released.
func (s *share) again(ctx context.Context) []*kgo.Record {
	if _, err := s.flush(ctx); err != nil {
		return nil
	}
	kept := []*kgo.Record{}
	for _, record := range s.renewed {
		if s.tally.isRefused(record) {
			s.say(record, kgo.AckRelease)
		} else {
			kept = append(kept, record)
		}
	}
	s.renewed = nil
	return kept
}

func (s *share) acknowledge(call *lines.Call) (lines.Fields, error) {
	record := s.held[place{partition{call.Topic, *call.Partition}, call.Offset}]
	if record == nil {
		return nil, errors.New("no poll has returned this record")
	}
	status := words[call.As]
	s.say(record, status)
	s.renewed = slices.DeleteFunc(s.renewed, func(each *kgo.Record) bool { return each == record })
	if status == kgo.AckRenew {
		s.renewed = append(s.renewed, record)
	}
	return nil, nil
}

func (s *share) say(record *kgo.Record, status kgo.AckStatus) {
	s.tally.said(record)
	record.Ack(status)
}

func (s *share) acceptPolled() {
	for _, record := range s.polled {
		s.tally.said(record)
	}
	s.client.MarkAcks(kgo.AckAccept)
	s.polled = nil
}

func (s *share) commit(call *lines.Call) (lines.Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	if s.implicit {
		s.acceptPolled()
	}
	results, err := s.flush(ctx)
	if err != nil {
		return nil, err
	}
	rows := [][]any{}
	for at, err := range results {
		row := []any{at.topic, at.number, nil}
		if err != nil {
			row[2] = described(err)
		}
		rows = append(rows, row)
	}
	return lines.Fields{"results": rows}, nil
}

// The client sends what was said by itself. It is waited for to be able to tell what became of it.
func (s *share) commitAsync(*lines.Call) (lines.Fields, error) {
	if s.implicit {
		s.acceptPolled()
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
		defer cancel()
		s.flush(ctx)
	}()
	return nil, nil
}

// Flush waits until the client has told what became of all that was said, and tells it.
func (s *share) flush(ctx context.Context) (map[partition]error, error) {
	before := s.tally.now()
	if err := s.client.FlushAcks(ctx); err != nil {
		return nil, err
	}
	return s.tally.tell(before), nil
}

func (s *share) close(call *lines.Call) (lines.Fields, error) {
	if s.client == nil {
		return nil, nil
	}
	ctx, cancel := call.Context()
	defer cancel()
	defer s.client.Close()
	before := s.tally.now()
	left := s.client.LeaveGroupContext(ctx)
	if err := s.client.FlushAcks(ctx); err == nil {
		s.tally.tell(before)
	}
	return nil, left
}

func delivered(records []*kgo.Record) []lines.Fields {
	told := []lines.Fields{}
	for _, r := range records {
		fields := lines.Record(r.Topic, r.Partition, r.Offset, r.Key, r.Value, headers(r))
		fields["delivery_count"] = r.DeliveryCount()
		told = append(told, fields)
	}
	return told
}
