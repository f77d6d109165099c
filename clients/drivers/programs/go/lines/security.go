package lines

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Security are the settings of TLS and logins that drivers take, by librdkafka's names.
var Security = []string{
	"sasl.mechanism", "sasl.password", "sasl.username", "security.protocol",
	"ssl.ca.location", "ssl.certificate.location", "ssl.key.location",
}

// Tokens are the settings that drivers of clients with OAUTHBEARER take besides.
var Tokens = append([]string{"enable.sasl.oauthbearer.unsecure.jwt", "sasl.oauthbearer.config"}, Security...)

// Login is what a client logs in with.
type Login struct{ Mechanism, User, Password, claims string }

// Token is unsecured (RFC 7515, with the algorithm `none`); sasl.oauthbearer.config says its principal.
func (l *Login) Token() string {
	said := map[string]string{}
	for _, each := range strings.Fields(l.claims) {
		name, value, _ := strings.Cut(each, "=")
		said[name] = value
	}
	now := time.Now().Unix()
	lasts, err := strconv.ParseInt(said["lifeSeconds"], 10, 64)
	if err != nil {
		lasts = 3600
	}
	claims, _ := json.Marshal(map[string]any{"sub": said["principal"], "iat": now, "exp": now + lasts})
	coded := base64.RawURLEncoding
	return coded.EncodeToString([]byte(`{"alg":"none"}`)) + "." + coded.EncodeToString(claims) + "."
}

// Login is nil without SASL.
func (c Config) Login() *Login {
	if protocol, _ := c.Text("security.protocol"); !strings.HasPrefix(protocol, "SASL") {
		return nil
	}
	login := &Login{}
	login.Mechanism, _ = c.Text("sasl.mechanism")
	login.User, _ = c.Text("sasl.username")
	login.Password, _ = c.Text("sasl.password")
	login.claims, _ = c.Text("sasl.oauthbearer.config")
	return login
}

// TLS is nil without TLS.
func (c Config) TLS() (*tls.Config, error) {
	if protocol, _ := c.Text("security.protocol"); !strings.HasSuffix(protocol, "SSL") {
		return nil, nil
	}
	set := &tls.Config{}
	if path, given := c.Text("ssl.ca.location"); given {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		set.RootCAs = x509.NewCertPool()
		if !set.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", path)
		}
	}
	if path, given := c.Text("ssl.certificate.location"); given {
		key, _ := c.Text("ssl.key.location")
		pair, err := tls.LoadX509KeyPair(path, key)
		if err != nil {
			return nil, err
		}
		set.Certificates = []tls.Certificate{pair}
	}
	return set, nil
}
