package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/topologies"
)

const (
	dirPattern = "lockbench-servers-*"
	ownerFile  = "owner.json"
)

// makeDir makes a directory, for this user only, that names its owner.
func (p Provider) makeDir() (string, error) {
	dir, err := os.MkdirTemp(p.Dirs, dirPattern)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(topologies.Self())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ownerFile), b, 0o600)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// RemoveOrphans removes the directories of owners that are gone: their servers died with them, the logs did not. It
// returns what it removed.
func (p Provider) RemoveOrphans(context.Context) ([]string, error) {
	base := p.Dirs
	if base == "" {
		base = os.TempDir()
	}
	dirs, err := filepath.Glob(filepath.Join(base, dirPattern))
	if err != nil {
		return nil, err
	}
	var removed []string
	var errs []error
	for _, dir := range dirs {
		if !ownerOf(dir).Gone() {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", dir, err))
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}

// ownerOf reads the owner of a directory; one that is never gone where there is none.
func ownerOf(dir string) (o topologies.Owner) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return topologies.Owner{}
	}
	b, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if err != nil || json.Unmarshal(b, &o) != nil {
		return topologies.Owner{}
	}
	return o
}
