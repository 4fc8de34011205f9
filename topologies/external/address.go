package external

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// target is an address as the user gave it, without any secret in it.
type target struct {
	hostPort string
	tls      bool // rediss://
	plain    bool // redis://
}

// parse reads host:port, redis://host:port or rediss://host:port. Its errors never show the text, nor do they wrap the
// parser's, which quotes it: there may be a password in it.
func parse(address string) (target, error) {
	if strings.Contains(address, "@") {
		return target{}, errors.New("a user or password in an address is refused: give topology.auth with username and password_from")
	}
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		return target{hostPort: address}, checkHostPort(address)
	}
	t := target{tls: scheme == "rediss", plain: scheme == "redis"}
	if !t.tls && !t.plain {
		return target{}, errors.New("an address is host:port, redis://host:port or rediss://host:port")
	}
	u, err := url.Parse("redis://" + rest)
	if err != nil {
		return target{}, errors.New("the address is not a valid URL")
	}
	if u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/" && u.Path != "/0") {
		return target{}, errors.New("an address has no query and no database but 0")
	}
	t.hostPort = u.Host
	return t, checkHostPort(u.Host)
}

func checkHostPort(s string) error {
	host, port, err := net.SplitHostPort(s)
	n, errPort := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || errPort != nil || n == 0 {
		return errors.New("an address is host:port, redis://host:port or rediss://host:port, with a port from 1 to 65535")
	}
	return nil
}

// parseAll reads all addresses; an error names the position, never the text.
func parseAll(addresses []string) ([]target, error) {
	seen := map[string]bool{}
	var all []target
	for i, a := range addresses {
		t, err := parse(a)
		if err != nil {
			return nil, fmt.Errorf("address %d of %d: %w", i+1, len(addresses), err)
		}
		if seen[t.hostPort] {
			return nil, fmt.Errorf("address %s is given twice: independent nodes must be different servers", t.hostPort)
		}
		seen[t.hostPort] = true
		all = append(all, t)
	}
	return all, nil
}
