package main

import (
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"driver/lines"
)

type partition struct {
	topic  string
	number int32
}

type place struct {
	partition
	offset int64
}

func placeOf(record *kgo.Record) place {
	return place{partition{record.Topic, record.Partition}, record.Offset}
}

// tally has what was said of records and not told yet. The client's callback names partitions, not records: what
// was said of a partition is committed when all of it was waited for, and no callback had an error for it.
type tally struct {
	event lines.Event

	lock  sync.Mutex
	count int
	open  map[partition]*opened
	// What was told last of a record: that what was said of it is not committed.
	refused map[place]bool
}

// opened is what is open of a partition: offsets with the number of when they were said, and what was heard.
type opened struct {
	offsets map[int64]int
	heard   bool
	failed  error
}

func newTally(event lines.Event) *tally {
	return &tally{event: event, open: map[partition]*opened{}, refused: map[place]bool{}}
}

func (t *tally) at(at partition) *opened {
	if t.open[at] == nil {
		t.open[at] = &opened{offsets: map[int64]int{}}
	}
	return t.open[at]
}

func (t *tally) said(record *kgo.Record) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.count++
	t.at(partition{record.Topic, record.Partition}).offsets[record.Offset] = t.count
	delete(t.refused, placeOf(record))
}

func (t *tally) isRefused(record *kgo.Record) bool {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.refused[placeOf(record)]
}

// hear is the client's callback.
func (t *tally) hear(_ *kgo.Client, results kgo.ShareAckResults) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, each := range results {
		at := t.at(partition{each.Topic, each.Partition})
		at.heard = true
		if each.Err != nil {
			at.failed = each.Err
		}
	}
}

// now is for tell: what was said until now.
func (t *tally) now() int {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.count
}

// tell writes events of what was said until then. An error counts for all that is open of its partition.
func (t *tally) tell(until int) map[partition]error {
	t.lock.Lock()
	defer t.lock.Unlock()
	results := map[partition]error{}
	for at, open := range t.open {
		offsets := []int64{}
		for offset, said := range open.offsets {
			if said <= until {
				offsets = append(offsets, offset)
			}
		}
		if len(offsets) > 0 && open.heard {
			results[at] = open.failed
			slices.Sort(offsets)
			fields := lines.Fields{"offsets": [][]any{{at.topic, at.number, offsets}}}
			if open.failed != nil {
				fields["error"] = described(open.failed)
			}
			t.event("acknowledged", fields)
			for _, offset := range offsets {
				delete(open.offsets, offset)
				if open.failed != nil {
					t.refused[place{at, offset}] = true
				}
			}
		}
		if len(open.offsets) == 0 {
			delete(t.open, at)
		}
	}
	return results
}
