package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"driver/lines"
)

const (
	mostHeld     = 3 * time.Second
	newsOfCommit = 100 * time.Millisecond
)

// Members of groups by handle, for the producers that send their offsets.
var members sync.Map

func metadata(handle string) (*sarama.ConsumerGroupMetadata, error) {
	found, known := members.Load(handle)
	if !known {
		return nil, fmt.Errorf("%q is not subscribed", handle)
	}
	m := found.(*member)
	session := m.current()
	if session == nil {
		return nil, errNoSession
	}
	return sarama.NewConsumerGroupMetadataFromSession(session, m.group, nil), nil
}

// member calls Consume again and again, as sarama's documentation tells users to. It is the handler, too.
type member struct {
	group  string
	client sarama.ConsumerGroup
	taken  *taken
	event  lines.Event
	closed context.Context
	close_ context.CancelFunc
	polls  chan struct{}
	ended  chan struct{}

	lock    sync.Mutex
	session sarama.ConsumerGroupSession
	end     context.CancelFunc
	starts  map[place]start
}

// start is where a partition begins that was sought in the generation before. If there were others between them, the
// member has lost the partition meanwhile, and begins at what the group has committed.
type start struct {
	offset     int64
	generation int32
	member     string
}

func newMember(group string, client sarama.ConsumerGroup, taken *taken, event lines.Event) *member {
	closed, close_ := context.WithCancel(context.Background())
	return &member{
		group: group, client: client, taken: taken, event: event, closed: closed, close_: close_,
		polls: make(chan struct{}, 1), ended: make(chan struct{}), end: func() {}, starts: map[place]start{},
	}
}

func (m *member) consume(topics []string) {
	defer close(m.ended)
	for m.closed.Err() == nil {
		ctx, end := context.WithCancel(m.closed)
		m.lock.Lock()
		m.end = end
		m.lock.Unlock()
		err := m.client.Consume(ctx, topics, m)
		end()
		if err != nil && m.closed.Err() == nil {
			m.taken.tell(err)
			select {
			case <-m.polls: // whoever polls again wants to go on
			case <-m.closed.Done():
			}
		}
	}
}

// polled is what poll does first: errors of the group are told by it.
func (m *member) polled() {
	for _, err := range m.errors() {
		m.taken.tell(err)
	}
	select {
	case m.polls <- struct{}{}:
	default:
	}
}

// errors are those that have come. Sarama drops some if there are more than its channel holds.
func (m *member) errors() (found []error) {
	for {
		select {
		case err, open := <-m.client.Errors():
			if !open {
				return found
			}
			found = append(found, err)
		default:
			return found
		}
	}
}

func (m *member) current() sarama.ConsumerGroupSession {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.session
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.lock.Lock()
	m.session = session
	for topic, partitions := range session.Claims() {
		for _, partition := range partitions {
			at := place{topic, partition}
			sought, found := m.starts[at]
			if found && sought.generation+1 == session.GenerationID() && sought.member == session.MemberID() {
				put(session, at, sought.offset)
			}
		}
	}
	clear(m.starts)
	m.lock.Unlock()
	m.event("assigned", lines.Fields{"partitions": lines.Pairs(session.Claims())})
	return nil
}

// Cleanup waits for the next poll: until then, the application does something with what the last one gave, and
// a group does not rebalance before Cleanup has returned. An application that takes longer holds up nobody else.
func (m *member) Cleanup(session sarama.ConsumerGroupSession) error {
	limited, cancel := context.WithTimeout(m.closed, mostHeld)
	m.taken.wanting(limited)
	cancel()
	m.lock.Lock()
	m.session = nil
	m.lock.Unlock()
	m.taken.drop(func() {
		m.event("revoked", lines.Fields{"partitions": lines.Pairs(session.Claims())})
	})
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			m.taken.give(session.Context(), message, claim.Messages(), session)
		case <-session.Context().Done():
			return nil
		}
	}
}

// One moves an offset forward only, the other back only.
func put(session sarama.ConsumerGroupSession, at place, offset int64) {
	session.MarkOffset(at.topic, at.partition, offset, "")
	session.ResetOffset(at.topic, at.partition, offset, "")
}

// commit has no error of its own in sarama: those that come through the group's channel, a little later, are the
// only news of it.
func (m *member) commit(offsets []lines.At) error {
	session := m.current()
	if session == nil {
		return errNoSession
	}
	for _, err := range m.errors() {
		m.taken.tell(err)
	}
	for _, each := range offsets {
		put(session, place{each.Topic, each.Partition}, *each.Offset)
	}
	session.Commit()
	select {
	case err := <-m.client.Errors():
		return errors.Join(append(m.errors(), err)...)
	case <-time.After(newsOfCommit):
		return nil
	}
}

// seek begins another session, which starts there: within one, a claim's messages can't be chosen.
func (m *member) seek(at place, offset int64) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.session == nil {
		return errNoSession
	}
	m.starts[at] = start{offset, m.session.GenerationID(), m.session.MemberID()}
	m.taken.drop(m.end)
	return nil
}

func (m *member) close() error {
	m.close_()
	err := m.client.Close()
	<-m.ended
	return err
}
