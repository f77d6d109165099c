package main

import (
	"errors"

	"github.com/IBM/sarama"

	"driver/lines"
)

// admin makes the calls of a ClusterAdmin, which take no timeouts of their own.
type admin struct{ sarama.ClusterAdmin }

func openAdmin(call *lines.Call, _ lines.Event) (lines.Verbs, error) {
	set, err := configured(call.Config)
	if err != nil {
		return nil, err
	}
	client, err := sarama.NewClusterAdmin(call.Config.Servers(), set)
	if err != nil {
		return nil, err
	}
	a := admin{client}
	return lines.Verbs{
		"create-topic": func(call *lines.Call) (lines.Fields, error) {
			return nil, a.CreateTopic(call.Topic, &sarama.TopicDetail{NumPartitions: call.Partitions.Count, ReplicationFactor: call.Replicas}, false)
		},
		"create-partitions": func(call *lines.Call) (lines.Fields, error) {
			return nil, a.CreatePartitions(call.Topic, call.Partitions.Count, nil, false)
		},
		"delete-topic": func(call *lines.Call) (lines.Fields, error) {
			return nil, a.DeleteTopic(call.Topic)
		},
		"alter-config":    a.alter,
		"describe-config": a.describe,
		// It returns nothing.
		"delete-records": func(call *lines.Call) (lines.Fields, error) {
			return nil, a.DeleteRecords(call.Topic, map[int32]int64{*call.Partition: call.Offset})
		},
		"list-offsets": a.listOffsets,
		"close": func(*lines.Call) (lines.Fields, error) {
			return nil, a.Close()
		},
	}, nil
}

func (a admin) alter(call *lines.Call) (lines.Fields, error) {
	set := map[string]sarama.IncrementalAlterConfigsEntry{
		call.Name: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &call.To},
	}
	return nil, a.IncrementalAlterConfig(sarama.TopicResource, call.Topic, set, false)
}

func (a admin) describe(call *lines.Call) (lines.Fields, error) {
	found, err := a.DescribeConfig(sarama.ConfigResource{
		Type: sarama.TopicResource, Name: call.Topic, ConfigNames: []string{call.Name},
	})
	for _, each := range found {
		if each.Name == call.Name {
			return lines.Fields{"value": each.Value}, err
		}
	}
	return lines.Fields{"value": nil}, err
}

func (a admin) listOffsets(call *lines.Call) (lines.Fields, error) {
	at := map[string]int64{"earliest": sarama.OffsetOldest, "latest": sarama.OffsetNewest}[call.At]
	asked := map[string]map[int32]int64{call.Topic: {*call.Partition: at}}
	found, err := a.ListOffsets(asked, nil)
	if err != nil {
		return nil, err
	}
	result := found[call.Topic][*call.Partition]
	// It is never nil.
	if !errors.Is(result.Err, sarama.ErrNoError) {
		return nil, result.Err
	}
	return lines.Fields{"offset": result.Offset}, nil
}
