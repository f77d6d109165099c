package main

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kadm"

	"driver/lines"
)

var errNotListed = errors.New("the client lists no such partition")

type admin struct{ *kadm.Client }

func openAdmin(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	options, err := common(call.Config)
	if err != nil {
		return nil, err
	}
	client, err := kadm.NewOptClient(options...)
	if err != nil {
		return nil, err
	}
	a := admin{client}
	return lines.Verbs{
		"create-topic":      lines.Bounded(a.createTopic),
		"create-partitions": lines.Bounded(a.createPartitions),
		"delete-topic":      lines.Bounded(a.deleteTopic),
		"alter-config":      lines.Bounded(a.alter),
		"describe-config":   lines.Bounded(a.describe),
		"delete-records":    lines.Bounded(a.deleteRecords),
		"list-offsets":      lines.Bounded(a.listOffsets),
		"close": func(*lines.Call) (lines.Fields, error) {
			client.Close()
			return nil, nil
		},
	}, nil
}

func (a admin) createTopic(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	_, err := a.CreateTopic(ctx, call.Partitions.Count, call.Replicas, nil, call.Topic)
	return nil, err
}

func (a admin) createPartitions(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	results, err := a.UpdatePartitions(ctx, int(call.Partitions.Count), call.Topic)
	if err == nil {
		err = results.Error()
	}
	return nil, err
}

func (a admin) deleteTopic(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	_, err := a.DeleteTopic(ctx, call.Topic)
	return nil, err
}

func (a admin) alter(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	set := kadm.AlterConfig{Op: kadm.SetConfig, Name: call.Name, Value: &call.To}
	results, err := a.AlterTopicConfigs(ctx, []kadm.AlterConfig{set}, call.Topic)
	if err != nil {
		return nil, err
	}
	_, err = results.On(call.Topic, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	return nil, err
}

func (a admin) describe(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	results, err := a.DescribeTopicConfigs(ctx, call.Topic)
	if err != nil {
		return nil, err
	}
	found, err := results.On(call.Topic, func(r *kadm.ResourceConfig) error { return r.Err })
	for _, each := range found.Configs {
		if each.Key == call.Name {
			return lines.Fields{"value": each.Value}, err
		}
	}
	return lines.Fields{"value": nil}, err
}

func (a admin) deleteRecords(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	before := kadm.Offsets{}
	before.AddOffset(call.Topic, *call.Partition, call.Offset, -1)
	results, err := a.DeleteRecords(ctx, before)
	if err != nil {
		return nil, err
	}
	found, err := results.On(call.Topic, *call.Partition, func(r *kadm.DeleteRecordsResponse) error { return r.Err })
	return lines.Fields{"offset": found.LowWatermark}, err
}

func (a admin) listOffsets(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	asks := a.ListStartOffsets
	if call.At == "latest" {
		asks = a.ListEndOffsets
	}
	found, err := listed(ctx, asks, call.Topic, *call.Partition)
	return lines.Fields{"offset": found.Offset}, err
}

type asking func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)

// listed is what is found of one partition; the client asks for all those of a topic. Of a topic that is not
// there, kadm lists partition -1, which says why.
func listed(ctx context.Context, ask asking, topic string, partition int32) (kadm.ListedOffset, error) {
	every, err := ask(ctx, topic)
	if err != nil {
		return kadm.ListedOffset{}, err
	}
	if found, has := every.Lookup(topic, partition); has {
		return found, found.Err
	}
	if found, has := every.Lookup(topic, -1); has {
		return found, found.Err
	}
	return kadm.ListedOffset{}, errNotListed
}
