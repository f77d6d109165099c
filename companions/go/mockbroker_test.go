package mockbroker

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// inner is a test within a test.
type inner struct {
	testing.TB
	failed   bool
	said     []string
	cleanups []func()
}

func (i *inner) Helper()                         {}
func (i *inner) Failed() bool                    { return i.failed }
func (i *inner) Cleanup(f func())                { i.cleanups = append(i.cleanups, f) }
func (i *inner) Logf(text string, args ...any)   { i.said = append(i.said, fmt.Sprintf(text, args...)) }
func (i *inner) Errorf(text string, args ...any) { i.Logf(text, args...); i.failed = true }
func (i *inner) Fatalf(text string, args ...any) { i.Errorf(text, args...); runtime.Goexit() }

// played is what a test says, after its cleanups.
func played(test func(testing.TB)) *inner {
	in := &inner{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(in.cleanups) - 1; i >= 0; i-- {
				in.cleanups[i]()
			}
		}()
		test(in)
	}()
	<-done
	return in
}

func expect(t *testing.T, in *inner, words string) {
	t.Helper()
	if said := strings.Join(in.said, "\n"); !in.failed || !strings.Contains(said, words) {
		t.Errorf("failed: %v, said: %q, not %q", in.failed, said, words)
	}
}

func TestRecordsAreThereAndTheClusterIsGoneAfterItsTest(t *testing.T) {
	var url string
	in := played(func(t testing.TB) {
		cluster := Start(t, Kafka("3.9"), Brokers(2), Topics(map[string]int{"orders": 1}))
		url = cluster.ControlURL
		cluster.Produce("orders", "order 1", ProduceOptions{Key: "a"})
		records := cluster.Records("orders")
		if len(records) != 1 || *records[0].Value != "order 1" || cluster.Kafka != "3.9" || cluster.Brokers != 2 {
			t.Errorf("%+v of %+v", records, cluster)
		}
		cluster.StopBroker(2)
	})
	if in.failed {
		t.Fatal(in.said)
	}
	answer, err := http.Get(url + "/cluster")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("the cluster is still there: %s", answer.Status)
	}
}

func TestAFaultThatNeverFiredFailsTheTest(t *testing.T) {
	expect(t, played(func(t testing.TB) {
		Start(t).AddFault(Fault{Do: Disconnect, API: "Produce", Nth: 3})
	}), "never fired: no client sent anything")
	expect(t, played(func(t testing.TB) {
		Start(t).AddFault(Fault{Do: Disconnect, API: "Produce", Name: "lost"}).Remove()
	}), "fault lost never fired")
	in := played(func(t testing.TB) {
		Start(t).AddFault(Fault{Do: Disconnect, API: "Produce", Optional: true})
	})
	if in.failed {
		t.Error(in.said)
	}
}

func TestWhatTheTestFoundComesBeforeAFaultThatNeverFired(t *testing.T) {
	in := played(func(t testing.TB) {
		Start(t).AddFault(Fault{Do: Disconnect, API: "Produce"})
		t.Errorf("one order is missing")
	})
	expect(t, in, "one order is missing")
	if strings.Contains(strings.Join(in.said, "\n"), "never fired") {
		t.Error(in.said)
	}
}

func TestAFailedTestTellsWhatHappenedLast(t *testing.T) {
	expect(t, played(func(t testing.TB) {
		Start(t, Topics(map[string]int{"orders": 1})).Produce("orders", "order 1")
		t.Errorf("one order is missing")
	}), " orders-0: high watermark 1, ")
}

func TestMistakesAreToldInTheWordsOfMockbroker(t *testing.T) {
	expect(t, played(func(t testing.TB) {
		Start(t, Policies(map[string]string{"undefined-epok": "undefined"}))
	}), "undefined-epoch")
	expect(t, played(func(t testing.TB) { Start(t).StopBroker(9) }), "9")
	expect(t, played(func(t testing.TB) { Start(t, Kafka("12")) }), "12")
}

func TestAnotherContractIsRefused(t *testing.T) {
	for contract, words := range map[int]string{0: "too old for this package", 2: "too new for this package"} {
		_, err := read([]byte(fmt.Sprintf(`{"event": "serving", "contract": %d, "version": "9.9"}`, contract)))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("contract %d: %v", contract, err)
		}
	}
}

func TestAMissingProcessIsToldWithWhatToDo(t *testing.T) {
	t.Setenv("MOCKBROKER", "")
	t.Setenv("PATH", "")
	if _, err := startProcess(); err == nil || !strings.Contains(err.Error(), "pip install mockbroker") {
		t.Error(err)
	}
	failing := filepath.Join(t.TempDir(), "mockbroker")
	if err := os.WriteFile(failing, []byte("#!/bin/sh\necho no port is free >&2\nexit 2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MOCKBROKER", failing)
	if _, err := startProcess(); err == nil || !strings.Contains(err.Error(), "did not start: no port is free") {
		t.Error(err)
	}
}

func TestManyClustersAtOnce(t *testing.T) {
	for i := range 10 {
		topic := fmt.Sprintf("topic-%d", i)
		t.Run(topic, func(t *testing.T) {
			t.Parallel()
			cluster := Start(t, Brokers(1), Topics(map[string]int{topic: 1}))
			cluster.Produce(topic, topic)
			if records := cluster.Records(topic); len(records) != 1 || *records[0].Value != topic {
				t.Errorf("%+v", records)
			}
		})
	}
}

const held = "MOCKBROKER_TEST_HELD"

// TestHeld is killed by the test below.
func TestHeld(t *testing.T) {
	if os.Getenv(held) == "" {
		t.Skip("it is played by another test")
	}
	fmt.Println(Start(t).ControlURL)
	select {}
}

func TestNothingIsLeftOfATestProcessThatWasKilled(t *testing.T) {
	command := exec.Command(os.Args[0], "-test.run=^TestHeld$", "-test.v")
	command.Env = append(os.Environ(), held+"=1")
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	for lines := bufio.NewScanner(stdout); url == "" && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "http://") {
			url = lines.Text()
		}
	}
	command.Process.Kill()
	command.Wait()
	if url == "" {
		t.Fatal("it told no address")
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(url + "/cluster")
		if err != nil {
			return
		}
		answer.Body.Close()
		if time.Now().After(deadline) {
			t.Fatal("mockbroker still serves")
		}
	}
}

// One broker without topics, from the call of Start until the cluster is gone.
func BenchmarkCluster(b *testing.B) {
	for range b.N {
		if in := played(func(t testing.TB) { Start(t, Brokers(1)) }); in.failed {
			b.Fatal(in.said)
		}
	}
}
