// Package mockbroker gives a test a Kafka cluster of its own, which behaves as the release that you choose, and
// in which things go wrong when you say so.
package mockbroker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// shownEvents is how many events of the trace a failed test logs.
const shownEvents = 50

// Cluster is there until its test ends.
type Cluster struct {
	ID string `json:"id"`
	// BootstrapServers are the addresses of all brokers, with commas between them.
	BootstrapServers string `json:"bootstrap_servers"`
	ControlURL       string `json:"control_url"`
	Kafka            string `json:"kafka"`
	Brokers          int    `json:"brokers"`
	ClusterID        string `json:"cluster_id"`

	t      testing.TB
	faults []*AddedFault
}

// Option is one of the options of Start.
type Option func(map[string]any)

// Kafka chooses the release to act as, such as "2.3"; without it, the newest.
func Kafka(release string) Option { return set("kafka", release) }

// Brokers chooses how many brokers there are; without it, three.
func Brokers(count int) Option { return set("brokers", count) }

// Topics creates topics, each with so many partitions.
func Topics(partitions map[string]int) Option { return set("topics", partitions) }

// Config gives all brokers a configuration, such as "num.partitions": "3".
func Config(config map[string]string) Option { return set("config", config) }

// Policies chooses answers of behaviours, such as "undefined-epoch": "log-end-offset".
func Policies(answers map[string]string) Option { return set("policies", answers) }

// Fixed applies every fix that was made or proposed.
func Fixed() Option { return set("fixed", true) }

// ManualClock lets the cluster's time move only by AdvanceClock.
func ManualClock() Option { return set("clock", "manual") }

// Seed chooses the ids that the cluster draws.
func Seed(seed int64) Option { return set("seed", seed) }

func set(name string, value any) Option {
	return func(given map[string]any) { given[name] = value }
}

// Start gives the test a cluster, and takes it away when the test has ended. A test fails if one of its faults
// never fired. If it fails, it logs hints, and the last requests and answers.
func Start(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	process, err := shared()
	if err != nil {
		t.Fatalf("mockbroker: %v", err)
	}
	given := map[string]any{"trace": "requests"}
	for _, option := range options {
		option(given)
	}
	cluster := &Cluster{t: t}
	lease := cluster.lend(process.controlURL, given)
	t.Cleanup(func() {
		// Also if the review ends the test.
		defer lease.Close()
		defer cluster.ask("DELETE", "", nil, nil)
		cluster.review()
	})
	return cluster
}

// lend asks for the cluster. It is there for as long as the body of the answer is open.
func (c *Cluster) lend(url string, given map[string]any) io.Closer {
	c.t.Helper()
	body, err := json.Marshal(given)
	if err != nil {
		c.t.Fatalf("mockbroker: %v", err)
	}
	answer, err := http.Post(url+"/clusters", "application/json", bytes.NewReader(body))
	if err != nil {
		c.t.Fatalf("mockbroker has ended: %v", err)
	}
	line, err := bufio.NewReader(answer.Body).ReadBytes('\n')
	if answer.StatusCode != http.StatusOK {
		c.t.Fatalf("mockbroker: %s", refusal(line))
	}
	if err == nil {
		err = json.Unmarshal(line, c)
	}
	if err != nil {
		c.t.Fatalf("mockbroker: %v", err)
	}
	return answer.Body
}

// review tells what a test should know at its end. What the test itself found comes first.
func (c *Cluster) review() {
	for _, each := range c.faults {
		if found := each.shown(); found.Hits == 0 && !found.Optional && !c.t.Failed() {
			c.t.Errorf("fault %s never fired: %s", each.Name, found.Why)
		}
	}
	if !c.t.Failed() {
		return
	}
	for _, hint := range c.Hints() {
		c.t.Logf("mockbroker: %s", hint)
	}
	var events []string
	c.do("GET", fmt.Sprintf("/trace/last?most=%d", shownEvents), nil, &events)
	for _, event := range events {
		c.t.Logf("mockbroker: %s", event)
	}
}

// ListenAddrs are the addresses of all brokers, one by one, as kgo.SeedBrokers and sarama.NewClient take them.
func (c *Cluster) ListenAddrs() []string {
	return strings.Split(c.BootstrapServers, ",")
}

// Hints says what in the cluster may keep clients from going on.
func (c *Cluster) Hints() []string {
	c.t.Helper()
	var hints []string
	c.do("GET", "/hints", nil, &hints)
	return hints
}

// Record is what a log has at an offset.
type Record struct {
	Partition int32   `json:"partition"`
	Offset    int64   `json:"offset"`
	Key       *string `json:"key"`
	Value     *string `json:"value"`
}

// Records are all that are stored of a topic, by partition and offset; more than 1,000 are an error.
func (c *Cluster) Records(topic string) []Record {
	c.t.Helper()
	var records []Record
	c.do("GET", path("/topics/%v/records", topic), nil, &records)
	return records
}

// Committed is an offset that a group has committed.
type Committed struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// Committed are the offsets of a group.
func (c *Cluster) Committed(group string) []Committed {
	c.t.Helper()
	var found []Committed
	c.do("GET", path("/groups/%v/committed", group), nil, &found)
	return found
}

// do asks the control API of the cluster; the test ends if that refuses.
func (c *Cluster) do(method, path string, arguments map[string]any, result any) {
	c.t.Helper()
	if err := c.ask(method, path, arguments, result); err != nil {
		c.t.Fatalf("mockbroker: %v", err)
	}
}

func (c *Cluster) ask(method, path string, arguments map[string]any, result any) error {
	if arguments == nil {
		arguments = map[string]any{}
	}
	body, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, c.ControlURL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("it has ended: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s", refusal(text))
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(text, result)
}

func refusal(text []byte) string {
	var refused struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(text, &refused) == nil && refused.Error != "" {
		return refused.Error
	}
	return strings.TrimSpace(string(text))
}

// path fills places in, each as one segment.
func path(format string, places ...any) string {
	for i, place := range places {
		places[i] = url.PathEscape(fmt.Sprint(place))
	}
	return fmt.Sprintf(format, places...)
}

// with adds the options that were given to arguments.
func with[O any](arguments map[string]any, options []O) map[string]any {
	for _, each := range options {
		text, err := json.Marshal(each)
		if err == nil {
			err = json.Unmarshal(text, &arguments)
		}
		if err != nil {
			panic(err)
		}
	}
	return arguments
}

// To is a pointer to a value, for fields in which leaving out and zero are two things.
func To[T any](value T) *T { return &value }
