package main

import (
	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"

	"driver/lines"
)

var hashes = map[string]scram.HashGeneratorFcn{
	sarama.SASLTypeSCRAMSHA256: scram.SHA256,
	sarama.SASLTypeSCRAMSHA512: scram.SHA512,
}

// conversation is how applications give sarama, which has no SCRAM of its own, another library's.
type conversation struct {
	hash scram.HashGeneratorFcn
	*scram.ClientConversation
}

func (c *conversation) Begin(user, password, authorized string) error {
	client, err := c.hash.NewClient(user, password, authorized)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

type tokens struct{ login *lines.Login }

func (t tokens) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: t.login.Token()}, nil
}

func secure(set *sarama.Config, config lines.Config) error {
	secured, err := config.TLS()
	set.Net.TLS.Enable, set.Net.TLS.Config = secured != nil, secured
	if login := config.Login(); login != nil {
		set.Net.SASL.Enable = true
		set.Net.SASL.Mechanism = sarama.SASLMechanism(login.Mechanism)
		set.Net.SASL.User, set.Net.SASL.Password = login.User, login.Password
		if login.Mechanism == sarama.SASLTypeOAuth {
			set.Net.SASL.TokenProvider = tokens{login}
		}
		if hash, known := hashes[login.Mechanism]; known {
			set.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: hash} }
		}
	}
	return err
}
