package external

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/topologies"
)

// requireServer skips where there is no server program, unless LOCKBENCH_REQUIRE says that there must be one.
func requireServer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err == nil {
		return path
	}
	if slices.Contains(strings.Split(os.Getenv("LOCKBENCH_REQUIRE"), ","), "redis") {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// serve runs a redis-server that this package's provider did not start, and returns its host:port.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	return "127.0.0.1:" + run(t, "--port", args...)
}

// serveTLS runs one that speaks TLS only.
func serveTLS(t *testing.T, args ...string) string {
	t.Helper()
	return "127.0.0.1:" + run(t, "--tls-port", append([]string{"--port", "0"}, args...)...)
}

func run(t *testing.T, portOption string, args ...string) (port string) {
	t.Helper()
	path := requireServer(t)
	ports, release, err := topologies.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	release()
	port = fmt.Sprint(ports[0])
	dir := t.TempDir()
	c := exec.Command(path, append([]string{portOption, port, "--bind", "127.0.0.1", "--save", "", "--dir", dir}, args...)...)
	c.Stdout, _ = os.Create(filepath.Join(dir, "log"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	for range 2000 {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			return port
		}
		time.Sleep(5 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	t.Fatalf("redis-server does not listen:\n%s", log)
	return ""
}

// say sends one command to a server outside the provider.
func say(t *testing.T, address string, words ...string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "%s\r\n", strings.Join(words, " "))
	answer := make([]byte, 128)
	n, err := c.Read(answer)
	if err != nil || answer[0] == '-' {
		t.Fatalf("%v: %s, %v", words, answer[:n], err)
	}
}

func spec(addresses ...string) topologies.Spec {
	s := topologies.Spec{Shape: topologies.Single, Addresses: addresses, Run: "r1", ConnectTimeout: 5 * time.Second, Timeout: 5 * time.Second}
	if len(addresses) > 1 {
		s.Shape, s.Nodes = topologies.Independent, len(addresses)
	}
	return s
}

// start must succeed.
func start(t *testing.T, s topologies.Spec) *topologies.Topology {
	t.Helper()
	topology, err := Provider{}.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { topology.Close(context.Background()) })
	return topology
}

// refusal is the error of a start that must fail, and must not tell the password.
func refusal(t *testing.T, s topologies.Spec, words ...string) {
	t.Helper()
	topology, err := Provider{}.Start(t.Context(), s)
	if err == nil {
		topology.Close(context.Background())
		t.Fatal("it was not refused")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want it to say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("the error shows the password: %v", err)
	}
}

const canary = "canary-7Qx"

// authority signs certificates in a directory.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := certificate("lockbench test CA")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a := authority{dir: t.TempDir(), cert: template, key: key}
	a.write(t, "ca", template, key)
	der, err := os.ReadFile(a.file("ca.der"))
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue writes name.crt and name.key for a host or address.
func (a authority) issue(t *testing.T, name, host string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := certificate(name)
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	a.write(t, name, template, key)
}

func (a authority) write(t *testing.T, name string, template *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{
		name + ".der": der,
		name + ".crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		name + ".key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	} {
		if err := os.WriteFile(a.file(file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (a authority) file(name string) string { return filepath.Join(a.dir, name) }

// server are the arguments of a TLS server with the certificate name; clients is yes, no or optional.
func (a authority) server(name, clients string) []string {
	return []string{
		"--tls-cert-file", a.file(name + ".crt"), "--tls-key-file", a.file(name + ".key"),
		"--tls-ca-cert-file", a.file("ca.crt"), "--tls-auth-clients", clients,
	}
}
