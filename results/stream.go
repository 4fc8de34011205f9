package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Stream is a file of a run folder that is written while a trial runs, so that a long trial needs no more memory than
// a short one. It appears under its name when it is committed.
type Stream struct {
	folder      *Folder
	file        *os.File
	local, part string
}

// Stream begins a file, as "trials/001-x-t1.hlog".
func (f *Folder) Stream(name string) (*Stream, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, fmt.Errorf("write %s in %s: %w", name, f.dir, err)
	}
	dir := filepath.Dir(local)
	s := &Stream{folder: f, local: local, part: filepath.Join(dir, "."+filepath.Base(local)+".part")}
	if err := f.root.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write %s in %s: %w", name, f.dir, err)
	}
	if s.file, err = f.root.OpenFile(s.part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return nil, fmt.Errorf("write %s in %s: %w", name, f.dir, err)
	}
	return s, nil
}

func (s *Stream) Write(b []byte) (int, error) { return s.file.Write(b) }

// Commit makes the file durable under its name.
func (s *Stream) Commit() error {
	err := errors.Join(s.file.Sync(), s.file.Close())
	if err == nil {
		err = s.folder.root.Rename(s.part, s.local)
	}
	if err != nil {
		s.folder.root.Remove(s.part)
		return fmt.Errorf("write %s in %s: %w", s.local, s.folder.dir, err)
	}
	return s.folder.syncDir(filepath.Dir(s.local))
}

// Abandon forgets what was written.
func (s *Stream) Abandon() {
	s.file.Close()
	s.folder.root.Remove(s.part)
}
