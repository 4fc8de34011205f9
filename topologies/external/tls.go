package external

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/lockbench/lockbench/topologies"
)

// tlsConfig is nil for a plain connection. The server's certificate is always verified: there is no way to switch
// that off, because a password would go to whoever answers.
func tlsConfig(t target, files *topologies.TLS) (*tls.Config, error) {
	if files == nil && !t.tls {
		return nil, nil
	}
	if files != nil && t.plain {
		return nil, errors.New("topology.tls is given, but the address says redis://: use rediss:// or host:port")
	}
	host, _, _ := net.SplitHostPort(t.hostPort)
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if files == nil {
		return c, nil
	}
	if files.ServerName != "" {
		c.ServerName = files.ServerName
	}
	if err := trust(c, files.CA); err != nil {
		return nil, err
	}
	return c, present(c, files)
}

// trust makes the certificates of a file the only ones that may sign the server's.
func trust(c *tls.Config, file string) error {
	if file == "" {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("topology.tls.ca: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("topology.tls.ca: %s holds no certificate in PEM form", file)
	}
	return nil
}

// present loads the client's own certificate.
func present(c *tls.Config, files *topologies.TLS) error {
	if files.Cert == "" && files.Key == "" {
		return nil
	}
	if files.Cert == "" || files.Key == "" {
		return errors.New("topology.tls.cert and topology.tls.key belong together")
	}
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return fmt.Errorf("topology.tls.cert and key: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return nil
}
