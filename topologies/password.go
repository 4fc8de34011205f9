package topologies

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// longestPassword bounds what is read from a file that was named by mistake.
const longestPassword = 4096

// ResolvePassword reads the password that from names: env:NAME or file:PATH, without one trailing newline. "" gives
// none. No error shows what was read, nor a from that may be a password itself.
func ResolvePassword(from string) (Secret, error) {
	source, where, _ := strings.Cut(from, ":")
	var password string
	var err error
	switch {
	case from == "":
		return "", nil
	case source == "env" && where != "":
		password, err = passwordFromEnv(where)
	case source == "file" && where != "":
		password, err = passwordFromFile(where)
	default:
		return "", errors.New("password_from must be env:NAME or file:PATH; a password itself does not belong there")
	}
	if err != nil {
		return "", err
	}
	password = strings.TrimSuffix(strings.TrimSuffix(password, "\n"), "\r")
	if password == "" {
		return "", fmt.Errorf("the password from %s is empty", from)
	}
	return Secret(password), nil
}

func passwordFromEnv(name string) (string, error) {
	v, ok := os.LookupEnv(name)
	if !ok {
		return "", fmt.Errorf("password: environment variable %s is not set", name)
	}
	return v, nil
}

func passwordFromFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longestPassword+1))
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	if len(b) > longestPassword {
		return "", fmt.Errorf("password: %s is longer than %d bytes", path, longestPassword)
	}
	return string(b), nil
}
