package main

import (
	"context"
	"sync"

	"github.com/IBM/sarama"

	"driver/lines"
)

const mostRecords = 500

type place struct {
	topic     string
	partition int32
}

// taken is where sarama's goroutines give messages to poll: only while it waits for some, so that what no poll
// has given is not marked, and is read again by whoever gets the partition.
type taken struct {
	lock     sync.Mutex
	changed  *sync.Cond
	wanted   bool
	messages []message
	told     []error
}

// message belongs to the session that it was read in; to none where a partition was assigned.
type message struct {
	*sarama.ConsumerMessage
	session sarama.ConsumerGroupSession
}

func newTaken() *taken {
	t := &taken{}
	t.changed = sync.NewCond(&t.lock)
	return t
}

// poll answers with what comes before the context ends. The answer is written before anyone else can write
// that the session has ended.
func (t *taken) poll(ctx context.Context, call *lines.Call) {
	t.lock.Lock()
	defer t.lock.Unlock()
	defer context.AfterFunc(ctx, t.wake)()
	t.wanted = true
	t.changed.Broadcast()
	for ctx.Err() == nil && len(t.messages) == 0 && len(t.told) == 0 {
		t.changed.Wait()
	}
	t.wanted = false
	records, told := []lines.Fields{}, []lines.Error{}
	for _, each := range t.messages {
		records = append(records, lines.Record(each.Topic, each.Partition, each.Offset, each.Key, each.Value, headers(each)))
		if each.session != nil {
			each.session.MarkMessage(each.ConsumerMessage, "")
		}
	}
	for _, each := range t.told {
		told = append(told, described(each))
	}
	t.messages, t.told = nil, nil
	call.Answer(lines.Fields{"records": records, "errors": told}, nil)
}

func headers(read message) []lines.Header {
	told := []lines.Header{}
	for _, each := range read.Headers {
		told = append(told, lines.Header{Name: string(each.Key), Value: each.Value})
	}
	return told
}

// give waits for a poll, and gives it a message and all that lie ready behind it. It does not when the context
// ends before.
func (t *taken) give(
	ctx context.Context, first *sarama.ConsumerMessage, ready <-chan *sarama.ConsumerMessage,
	session sarama.ConsumerGroupSession,
) {
	t.lock.Lock()
	defer t.lock.Unlock()
	defer context.AfterFunc(ctx, t.wake)()
	for ctx.Err() == nil && (!t.wanted || len(t.messages) >= mostRecords) {
		t.changed.Wait()
	}
	if ctx.Err() != nil {
		return
	}
	defer t.changed.Broadcast()
	t.messages = append(t.messages, message{first, session})
	for len(t.messages) < mostRecords {
		select {
		case next, open := <-ready:
			if !open {
				return
			}
			t.messages = append(t.messages, message{next, session})
		default:
			return
		}
	}
}

// wanting waits until a poll waits for messages, or until the context ends.
func (t *taken) wanting(ctx context.Context) {
	t.lock.Lock()
	defer t.lock.Unlock()
	defer context.AfterFunc(ctx, t.wake)()
	for ctx.Err() == nil && !t.wanted {
		t.changed.Wait()
	}
}

// tell has the next poll tell of an error.
func (t *taken) tell(err error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.told = append(t.told, err)
	t.changed.Broadcast()
}

// drop forgets what no poll has given, and does something before more can come.
func (t *taken) drop(then func()) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.messages = nil
	then()
}

func (t *taken) wake() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.changed.Broadcast()
}
