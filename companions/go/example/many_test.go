package example

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"mockbroker"
)

// Each has a cluster, and finds in it what it wrote, and nothing else. MANY says how many there are, -parallel how
// many at once.
func TestMany(t *testing.T) {
	many, err := strconv.Atoi(os.Getenv("MANY"))
	if err != nil {
		many = 40
	}
	var ready []float64
	var mutex sync.Mutex
	t.Cleanup(func() { t.Logf("ready after, in ms: %.1f", ready) })
	for number := range many {
		order := fmt.Sprintf("order %d", number)
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			cluster := mockbroker.Start(t, mockbroker.Topics(map[string]int{"orders": 1}))
			took := time.Since(began)
			mutex.Lock()
			ready = append(ready, took.Seconds()*1000)
			mutex.Unlock()
			write(t, client(t, cluster), order)
			if found := values(cluster.Records("orders")); found != order {
				t.Errorf("orders: %s", found)
			}
		})
	}
}
