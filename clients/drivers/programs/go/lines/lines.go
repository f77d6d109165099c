// Package lines is what drivers in Go share: requests are read from one file descriptor, answers and events are
// written to another, one JSON object a line (docs/drivers.md).
package lines

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	protocol = 2
	requests = "MOCKBROKER_DRIVER_REQUESTS"
	answers  = "MOCKBROKER_DRIVER_ANSWERS"
	ahead    = 100_000
	stacks   = 1 << 20
)

// Fields are those of an answer or an event.
type Fields map[string]any

// ErrLater is returned by a verb that answers its call itself, once it knows what to say.
var ErrLater = errors.New("later")

// Error is one that the client told its user. What is nil, the client doesn't say.
type Error struct {
	Name      string `json:"name"`
	Message   string `json:"message"`
	Code      *int16 `json:"code,omitempty"`
	Fatal     *bool  `json:"fatal,omitempty"`
	Retriable *bool  `json:"retriable,omitempty"`
	Abortable *bool  `json:"abortable,omitempty"`
}

// Named is an error as far as Go itself tells: its name is its type, or what `names` calls its value.
func Named(err error, names map[error]string) Error {
	said := Error{Name: strings.TrimPrefix(fmt.Sprintf("%T", err), "*"), Message: err.Error()}
	if strings.HasPrefix(said.Name, "errors.") || strings.HasPrefix(said.Name, "fmt.") {
		said.Name = "error"
	}
	for each, name := range names {
		if errors.Is(err, each) {
			said.Name = name
		}
	}
	return said
}

// At is a partition; in some verbs with an offset, which is nil if there is none.
type At struct {
	Topic     string
	Partition int32
	Offset    *int64
}

// UnmarshalJSON reads [topic, partition] or [topic, partition, offset].
func (a *At) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&a.Topic, &a.Partition, &a.Offset})
}

// Partitions are some of them, or how many a topic is to have.
type Partitions struct {
	List  []At
	Count int32
}

// UnmarshalJSON reads a list, or a number.
func (p *Partitions) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, &p.List)
	}
	return json.Unmarshal(text, &p.Count)
}

// Header is one of a record; its value may be nil.
type Header struct {
	Name  string
	Value []byte
}

// UnmarshalJSON reads [name, value].
func (h *Header) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&h.Name, &h.Value})
}

// MarshalJSON writes [name, value].
func (h Header) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.Name, h.Value})
}

// Call is a request, which is answered once, from any goroutine.
type Call struct {
	ID         int    `json:"id"`
	Do         string `json:"do"`
	Handle     string `json:"handle"`
	Kind       string `json:"kind"`
	Config     Config `json:"config"`
	Topic      string `json:"topic"`
	Topics     []string
	Partition  *int32 `json:"partition"`
	Partitions Partitions
	Replicas   int16 `json:"replication_factor"`
	Offset     int64 `json:"offset"`
	Headers    []Header
	Offsets    []At   `json:"offsets"`
	Consumer   string `json:"consumer"`
	As         string `json:"as"`
	At         string `json:"at"`
	Name       string `json:"name"`
	To         string `json:"to"`
	Key        []byte `json:"key"`
	Value      []byte `json:"value"`
	TimeoutMs  *int64 `json:"timeout_ms"`
	AtOnce     bool   `json:"at_once"`

	driver *Driver
}

// Timeout is the request's, or `missing` if it has none.
func (c *Call) Timeout(missing time.Duration) time.Duration {
	if c.TimeoutMs == nil {
		return missing
	}
	return time.Duration(*c.TimeoutMs) * time.Millisecond
}

// Context ends with the request's timeout, or after 30 s if it has none.
func (c *Call) Context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), c.Timeout(30*time.Second))
}

// Bounded gives a verb a context that ends with the call's timeout.
func Bounded(verb func(context.Context, *Call) (Fields, error)) func(*Call) (Fields, error) {
	return func(call *Call) (Fields, error) {
		ctx, cancel := call.Context()
		defer cancel()
		return verb(ctx, call)
	}
}

// Answer answers with what a verb returned.
func (c *Call) Answer(result Fields, err error) {
	if err != nil {
		c.driver.write(Fields{"id": c.ID, "error": c.driver.described(err)})
		return
	}
	if result == nil {
		result = Fields{}
	}
	c.driver.write(Fields{"id": c.ID, "ok": result})
}

// Config has the names of Kafka's Java client.
type Config map[string]any

// Text is a value as text, and whether it is given.
func (c Config) Text(name string) (string, bool) {
	value, given := c[name]
	if !given || value == nil {
		return "", false
	}
	return fmt.Sprint(value), true
}

// Is tells whether a value is given and is this one.
func (c Config) Is(name, value string) bool {
	text, given := c.Text(name)
	return given && strings.EqualFold(text, value)
}

// Servers are the addresses in bootstrap.servers.
func (c Config) Servers() []string {
	text, _ := c.Text("bootstrap.servers")
	return strings.Split(text, ",")
}

// Int is a whole number, and whether it is given.
func (c Config) Int(name string) (int, bool) {
	text, given := c.Text(name)
	number, err := strconv.Atoi(text)
	return number, given && err == nil
}

// Time is a value in ms, and whether it is given.
func (c Config) Time(name string) (time.Duration, bool) {
	number, given := c.Int(name)
	return time.Duration(number) * time.Millisecond, given
}

// Unanswered counts the records that a client has not told of yet, where it has no flush of its own.
type Unanswered struct {
	lock  sync.Mutex
	count int
	none  chan struct{}
}

// Asked is called for each record that is given to the client.
func (u *Unanswered) Asked() {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.count++; u.count == 1 {
		u.none = make(chan struct{})
	}
}

// Answered is called when the client has told of one.
func (u *Unanswered) Answered() {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.count--; u.count == 0 {
		close(u.none)
	}
}

// Flush is a verb: it waits until the client has told of all records, or the call's timeout has passed.
func (u *Unanswered) Flush(call *Call) (Fields, error) {
	ctx, cancel := call.Context()
	defer cancel()
	u.lock.Lock()
	none := u.none
	u.lock.Unlock()
	if none != nil {
		select {
		case <-none:
		case <-ctx.Done():
		}
	}
	u.lock.Lock()
	defer u.lock.Unlock()
	return Fields{"left": u.count}, nil
}

// Record is one that was read.
func Record(topic string, partition int32, offset int64, key, value []byte, headers []Header) Fields {
	record := Fields{"topic": topic, "partition": partition, "offset": offset, "key": key, "value": value}
	if len(headers) > 0 {
		record["headers"] = headers
	}
	return record
}

// Taking lists capabilities: the values that a driver takes of a setting.
func Taking(setting string, values ...string) []string {
	listed := []string{}
	for _, value := range values {
		listed = append(listed, setting+"="+value)
	}
	return listed
}

// Pairs are partitions as an event has them.
func Pairs(partitions map[string][]int32) [][]any {
	pairs := [][]any{}
	for topic, numbers := range partitions {
		for _, number := range numbers {
			pairs = append(pairs, []any{topic, number})
		}
	}
	return pairs
}

// Verbs are what a handle can do, by the names in requests.
type Verbs map[string]func(*Call) (Fields, error)

// Driver is what a program is.
type Driver struct {
	// Client is the client's name and version.
	Client string
	// Capabilities are those of docs/drivers.md.
	Capabilities []string
	// Settings are those that it takes, by kind.
	Settings map[string][]string
	// Open makes a handle, by kind. It gets a function that writes events of the handle.
	Open map[string]func(*Call, Event) (Verbs, error)
	// Describe says what the client says of an error.
	Describe func(error) Error

	lock   sync.Mutex
	output io.Writer
}

// Event writes an event of a handle.
type Event func(event string, fields Fields)

// Unsupported is a verb that the driver, or the client, does not have.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

// Serve serves until the requests end. Each handle has a goroutine, which makes its calls one after the other.
func (d *Driver) Serve() {
	printStacksWhenAsked()
	input := bufio.NewReader(descriptor(requests))
	d.output = descriptor(answers)
	d.write(Fields{
		"event": "hello", "protocol": protocol, "client": d.Client,
		"capabilities": d.Capabilities, "settings": d.Settings, "stack": "SIGUSR1",
	})
	handles := map[string]chan *Call{}
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		call := &Call{driver: d}
		if err := json.Unmarshal(line, call); err != nil {
			panic(fmt.Sprintf("%v: %s", err, line))
		}
		calls, known := handles[call.Handle]
		if !known {
			calls = make(chan *Call, ahead)
			handles[call.Handle] = calls
			go d.run(calls)
		}
		calls <- call
		if call.Do == "close" {
			close(calls)
			delete(handles, call.Handle)
		}
	}
}

func (d *Driver) run(calls <-chan *Call) {
	var verbs Verbs
	for call := range calls {
		result, err := Fields(nil), error(nil)
		if open := d.Open[call.Kind]; call.Do == "open" && open != nil {
			verbs, err = open(call, func(event string, fields Fields) {
				line := Fields{"event": event, "handle": call.Handle}
				for name, value := range fields {
					line[name] = value
				}
				d.write(line)
			})
		} else if verb, has := verbs[call.Do]; has && call.AtOnce {
			err = ErrLater
			go func() {
				if result, err := verb(call); !errors.Is(err, ErrLater) {
					call.Answer(result, err)
				}
			}()
		} else if has {
			result, err = verb(call)
		} else {
			err = Unsupported(fmt.Sprintf("%q has no verb %s", call.Handle, call.Do))
		}
		if !errors.Is(err, ErrLater) {
			call.Answer(result, err)
		}
	}
}

func (d *Driver) described(err error) Error {
	if unsupported := Unsupported(""); errors.As(err, &unsupported) {
		return Error{Name: "unsupported", Message: err.Error()}
	}
	return d.Describe(err)
}

func (d *Driver) write(line Fields) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	if _, err := d.output.Write(append(text, '\n')); err != nil {
		os.Exit(0) // nobody listens any more
	}
}

func descriptor(name string) *os.File {
	number, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: the number of a file descriptor\n", name)
		os.Exit(2)
	}
	return os.NewFile(uintptr(number), name)
}

func printStacksWhenAsked() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			text := make([]byte, stacks)
			os.Stderr.Write(text[:runtime.Stack(text, true)])
		}
	}()
}

// Version is that of a module that the program was built with.
func Version(module string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, each := range build.Deps {
			if each.Path == module {
				return strings.TrimPrefix(each.Version, "v")
			}
		}
	}
	return "unknown"
}
