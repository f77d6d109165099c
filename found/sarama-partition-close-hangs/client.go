// Manages a partition's offset, and closes what it has opened, as the documentation says.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

func manage(group string, automatic bool) {
	config := sarama.NewConfig()
	config.Consumer.Offsets.AutoCommit.Enable = automatic
	client, _ := sarama.NewClient(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ","), config)
	manager, _ := sarama.NewOffsetManagerFromClient(group, client)
	partition, _ := manager.ManagePartition("orders", 0)
	partition.MarkOffset(5, "")
	manager.Commit()
	closed := make(chan error)
	go func() { closed <- partition.Close() }()
	select {
	case err := <-closed:
		fmt.Println("Close:", err)
	case <-time.After(10 * time.Second):
		fmt.Println("Close has not returned after 10 s")
	}
}

func main() {
	fmt.Println("AutoCommit.Enable = true")
	manage("with", true)
	fmt.Println("AutoCommit.Enable = false")
	manage("without", false)
}
