package main

import (
	"context"
	"errors"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"driver/lines"
)

var administers = named(map[string]string{})

var errNoAnswer = errors.New("the client returned nothing for it")

type admin struct{ *kafka.AdminClient }

func openAdmin(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	client, err := kafka.NewAdminClient(configured(call.Config, administers))
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

// failed is the error that the client has for one thing; it is none where its code says so.
func failed(err kafka.Error) error {
	if err.Code() == kafka.ErrNoError {
		return nil
	}
	return err
}

func ofTopics(results []kafka.TopicResult, err error) (lines.Fields, error) {
	for _, each := range results {
		err = errors.Join(err, failed(each.Error))
	}
	return nil, err
}

func (a admin) createTopic(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	return ofTopics(a.CreateTopics(ctx, []kafka.TopicSpecification{{
		Topic: call.Topic, NumPartitions: int(call.Partitions.Count), ReplicationFactor: int(call.Replicas),
	}}))
}

func (a admin) createPartitions(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	return ofTopics(a.CreatePartitions(ctx, []kafka.PartitionsSpecification{{
		Topic: call.Topic, IncreaseTo: int(call.Partitions.Count),
	}}))
}

func (a admin) deleteTopic(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	return ofTopics(a.DeleteTopics(ctx, []string{call.Topic}))
}

func (a admin) alter(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	set := kafka.ConfigEntry{Name: call.Name, Value: call.To, IncrementalOperation: kafka.AlterConfigOpTypeSet}
	of := kafka.ConfigResource{Type: kafka.ResourceTopic, Name: call.Topic, Config: []kafka.ConfigEntry{set}}
	results, err := a.IncrementalAlterConfigs(ctx, []kafka.ConfigResource{of})
	for _, each := range results {
		err = errors.Join(err, failed(each.Error))
	}
	return nil, err
}

func (a admin) describe(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	of := kafka.ConfigResource{Type: kafka.ResourceTopic, Name: call.Topic}
	results, err := a.DescribeConfigs(ctx, []kafka.ConfigResource{of})
	for _, each := range results {
		err = errors.Join(err, failed(each.Error))
		if found, has := each.Config[call.Name]; has {
			return lines.Fields{"value": found.Value}, err
		}
	}
	return lines.Fields{"value": nil}, err
}

func (a admin) deleteRecords(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	before := lines.At{Topic: call.Topic, Partition: *call.Partition, Offset: &call.Offset}
	found, err := a.DeleteRecords(ctx, places([]lines.At{before}))
	if err != nil {
		return nil, err
	}
	for _, each := range found.DeleteRecordsResults {
		if each.TopicPartition.Error != nil {
			return nil, each.TopicPartition.Error
		}
		return lines.Fields{"offset": each.DeletedRecords.LowWatermark}, nil
	}
	return nil, errNoAnswer
}

func (a admin) listOffsets(ctx context.Context, call *lines.Call) (lines.Fields, error) {
	at := map[string]kafka.OffsetSpec{"earliest": kafka.EarliestOffsetSpec, "latest": kafka.LatestOffsetSpec}[call.At]
	of := kafka.TopicPartition{Topic: &call.Topic, Partition: *call.Partition}
	found, err := a.ListOffsets(ctx, map[kafka.TopicPartition]kafka.OffsetSpec{of: at})
	if err != nil {
		return nil, err
	}
	for _, each := range found.ResultInfos { // its keys have other pointers to the topic than ours
		return lines.Fields{"offset": each.Offset}, failed(each.Error)
	}
	return nil, errNoAnswer
}
