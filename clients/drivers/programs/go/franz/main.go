// Driver: franz-go, of the package github.com/twmb/franz-go

// Drives franz-go: docs/drivers.md. The client that sends a transaction's offsets is in franz-go the one that
// consumes (GroupTransactSession), so a producer here has no send-offsets.
package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"driver/lines"
)

const module = "github.com/twmb/franz-go"

// By name, because a value of errors.New has none.
var names = map[error]string{
	kgo.ErrRecordTimeout:     "ErrRecordTimeout",
	kgo.ErrRecordRetries:     "ErrRecordRetries",
	kgo.ErrMaxBuffered:       "ErrMaxBuffered",
	kgo.ErrAborting:          "ErrAborting",
	kgo.ErrClientClosed:      "ErrClientClosed",
	context.DeadlineExceeded: "DeadlineExceeded",
	context.Canceled:         "Canceled",
}

func described(err error) lines.Error {
	said := lines.Named(err, names)
	if kafka := (*kerr.Error)(nil); errors.As(err, &kafka) {
		said.Name, said.Code, said.Retriable = kafka.Message, &kafka.Code, &kafka.Retriable
		said.Message = strings.TrimPrefix(said.Message, kafka.Message+": ")
	}
	return said
}

// Without it no line of the log has a time.
func now() string { return time.Now().Format("2006-01-02T15:04:05.000Z07:00 ") }

// Options that producers and consumers have in common.
func common(config lines.Config) ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(config.Servers()...),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, now)),
	}
	if id, given := config.Text("client.id"); given {
		options = append(options, kgo.ClientID(id))
	}
	if limit, given := config.Time("request.timeout.ms"); given {
		options = append(options, kgo.RequestTimeoutOverhead(limit))
	}
	if backoff, given := config.Time("retry.backoff.ms"); given {
		options = append(options, kgo.RetryBackoffFn(func(int) time.Duration { return backoff }))
		// As with the Java client, which asks for metadata again after retry.backoff.ms.
		options = append(options, kgo.MetadataMinAge(backoff))
	}
	secured, err := config.TLS()
	if secured != nil {
		options = append(options, kgo.DialTLSConfig(secured))
	}
	if login := config.Login(); login != nil {
		mechanism := mechanisms[login.Mechanism]
		if mechanism == nil {
			return nil, lines.Unsupported("the driver has no mechanism " + login.Mechanism)
		}
		options = append(options, kgo.SASL(mechanism(login)))
	}
	return options, err
}

var mechanisms = map[string]func(*lines.Login) sasl.Mechanism{
	"PLAIN": func(login *lines.Login) sasl.Mechanism {
		return plain.Auth{User: login.User, Pass: login.Password}.AsMechanism()
	},
	"SCRAM-SHA-256": func(login *lines.Login) sasl.Mechanism {
		return scram.Auth{User: login.User, Pass: login.Password}.AsSha256Mechanism()
	},
	"SCRAM-SHA-512": func(login *lines.Login) sasl.Mechanism {
		return scram.Auth{User: login.User, Pass: login.Password}.AsSha512Mechanism()
	},
	"OAUTHBEARER": func(login *lines.Login) sasl.Mechanism {
		return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
			return oauth.Auth{Token: login.Token()}, nil
		})
	},
}

func main() {
	(&lines.Driver{
		Client: "franz-go " + lines.Version(module),
		Capabilities: slices.Concat(
			[]string{
				"groups", "assign", "idempotence", "transactions", "consumer-protocol", "pause", "patterns", "headers", "null-headers",
				"seek", "offsets-for-times", "at-once", "commit-at-once", "share", "renew",
				"admin", "create-partitions", "delete-topic", "alter-config", "describe-config", "delete-records", "list-offsets",
			},
			lines.Taking("compression.type", "gzip", "snappy", "lz4", "zstd"),
			lines.Taking(assignor, slices.Sorted(maps.Keys(balancers))...),
		),
		Settings: map[string][]string{
			"producer": append([]string{
				"acks", "bootstrap.servers", "client.id", "compression.type", "delivery.timeout.ms",
				"enable.idempotence", "linger.ms", "max.request.size", "request.timeout.ms", "retry.backoff.ms",
				"transaction.timeout.ms", "transactional.id",
			}, lines.Tokens...),
			"consumer": append([]string{
				"auto.commit.interval.ms", "auto.offset.reset", "bootstrap.servers", "client.id", "client.rack",
				"enable.auto.commit", "fetch.max.wait.ms",
				"group.id", "group.instance.id", "group.protocol", "heartbeat.interval.ms", "isolation.level",
				"max.poll.records", "metadata.max.age.ms",
				"max.poll.interval.ms", assignor, "request.timeout.ms", "retry.backoff.ms", "session.timeout.ms",
			}, lines.Tokens...),
			"admin": append([]string{"bootstrap.servers", "client.id", "request.timeout.ms", "retry.backoff.ms"}, lines.Tokens...),
			"share-consumer": append([]string{
				"bootstrap.servers", "client.id", "fetch.max.wait.ms", "group.id", "max.poll.records",
				"request.timeout.ms", "retry.backoff.ms", "share.acknowledgement.mode", "share.acquire.mode",
			}, lines.Tokens...),
		},
		Open: map[string]func(*lines.Call, lines.Event) (lines.Verbs, error){
			"producer":       openProducer,
			"consumer":       openConsumer,
			"admin":          openAdmin,
			"share-consumer": openShare,
		},
		Describe: described,
	}).Serve()
}
