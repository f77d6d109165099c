package main

import (
	"crypto/tls"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"driver/lines"
)

var hashes = map[string]scram.Algorithm{"SCRAM-SHA-256": scram.SHA256, "SCRAM-SHA-512": scram.SHA512}

// secured is how a client gets in: TLS and a login, or nil for what it has not.
func secured(config lines.Config) (*tls.Config, sasl.Mechanism, error) {
	set, err := config.TLS()
	login := config.Login()
	if err != nil || login == nil {
		return set, nil, err
	}
	if login.Mechanism == "PLAIN" {
		return set, plain.Mechanism{Username: login.User, Password: login.Password}, nil
	}
	hash, known := hashes[login.Mechanism]
	if !known {
		return nil, nil, lines.Unsupported("the driver has no mechanism " + login.Mechanism)
	}
	mechanism, err := scram.Mechanism(hash, login.User, login.Password)
	return set, mechanism, err
}

func newTransport(config lines.Config) (*kafka.Transport, error) {
	set, login, err := secured(config)
	id, _ := config.Text("client.id")
	return &kafka.Transport{ClientID: id, TLS: set, SASL: login}, err
}
