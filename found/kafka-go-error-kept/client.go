// The first connection fails, and the cluster can be reached from then on.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	connections, failed := 0, map[string]int{}
	transport := &kafka.Transport{
		MetadataTTL: 10 * time.Minute,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			connections++
			if connections == 1 {
				return nil, errors.New("connection refused")
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	writer := kafka.Writer{Addr: kafka.TCP(os.Getenv("BOOTSTRAP_SERVERS")), Topic: "orders", Transport: transport}
	for second := 1; second <= 5; second++ {
		time.Sleep(time.Second)
		if err := writer.WriteMessages(context.Background(), kafka.Message{Value: []byte("1")}); err != nil {
			failed[err.Error()]++
		}
	}
	fmt.Println("of 5 writes failed:", failed)
	fmt.Println("attempts to connect:", connections)
}
