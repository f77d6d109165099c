// The coordinator of a group has moved when an offset is committed.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/IBM/sarama"
)

func main() {
	config := sarama.NewConfig()
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.AutoCommit.Enable = false
	client, _ := sarama.NewClient(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ","), config)
	manager, _ := sarama.NewOffsetManagerFromClient("billing", client)
	partition, _ := manager.ManagePartition("orders", 0)
	go func() {
		for err := range partition.Errors() {
			fmt.Println("told:", err)
		}
	}()

	exec.Command("sh", "-c", os.Getenv("MOVE_COORDINATOR")).Run()
	partition.MarkOffset(5, "")
	manager.Commit()
	fmt.Println("Commit has returned")
	partition.AsyncClose()
	manager.Close()

	manager, _ = sarama.NewOffsetManagerFromClient("billing", client)
	partition, _ = manager.ManagePartition("orders", 0)
	offset, _ := partition.NextOffset()
	fmt.Println("the next consumer begins at", offset)
}
