package results

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Names inside a run folder. Trials are trials/NNN-<slug>-tK.json, with a .hlog of the same name beside.
const (
	RunFile      = "run.json"
	ScenarioFile = "scenario.yaml"
	SummaryFile  = "summary.json"
	GoBenchFile  = "gobench.txt"
	HTMLFile     = "report.html"
	MarkdownFile = "report.md"
	ChartsDir    = "charts"
	TrialsDir    = "trials"
)

// Limits of what Read accepts, so that a file from a stranger cannot fill the memory.
const (
	maxFile     = 64 << 20 // bytes of one JSON file
	maxScenario = 1 << 20  // bytes; a scenario file itself is at most 64 KiB
	maxTrials   = 20_000   // files
)

// spaceNeeded is what Create proves to be free before anything is measured: far more than the files of a usual run
// (about 100 KB a trial).
const spaceNeeded = 16 << 20

// NewRunID names a run: <UTC>_<scenario>_<8 hex>, as 20261130T201000Z_quickstart_1a2b3c4d. It sorts by time.
func NewRunID(now time.Time, scenario string, random [4]byte) string {
	return fmt.Sprintf("%s_%s_%s", now.UTC().Format("20060102T150405Z"), scenario, hex.EncodeToString(random[:]))
}

// TrialName is the name of a trial's files without ending: NNN-<slug>-tK, NNN its place in the run.
func TrialName(order int, slug string, trial int) string {
	return fmt.Sprintf("%03d-%s-t%d", order, slug, trial)
}

// Folder is a run folder that is being written. Each file appears whole under its name or not at all: it is written
// under a temporary name, synced and renamed. A folder whose run was cut short therefore reads as a valid partial run.
// Its methods may be called concurrently for different files.
//
// Folders are made with mode 0755 and files with 0644, less the umask: a report is made to be shown, and holds no
// secret (passwords never reach the results).
type Folder struct {
	dir  string
	root *os.Root
}

// Create makes the folder of a new run. It refuses one that has something in it, and one in which it cannot write
// and sync 16 MiB now: a full disk is to be found before measuring, not after.
func Create(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create run folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("create run folder: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("create run folder %s: it is not empty (%s is there); results are never overwritten", dir, entries[0].Name())
	}
	f, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if err := f.prove(spaceNeeded); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Open is a folder that exists, to write a report into it. The caller closes it.
func Open(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open run folder: %w", err)
	}
	return &Folder{dir: dir, root: root}, nil
}

// Close gives the handle of the folder back. What was written stays.
func (f *Folder) Close() error { return f.root.Close() }

// Dir is the path of the folder.
func (f *Folder) Dir() string { return f.dir }

// Has tells whether a file of the folder is there.
func (f *Folder) Has(name string) bool {
	local, err := filepath.Localize(name)
	if err != nil {
		return false
	}
	_, err = f.root.Stat(local)
	return err == nil
}

// prove writes so many bytes and takes them away again. Asking the file system for its free blocks would not see quotas.
func (f *Folder) prove(size int) error {
	const name = ".space"
	file, err := f.root.Create(name)
	if err != nil {
		return fmt.Errorf("run folder %s is not writable: %w", f.dir, err)
	}
	defer f.root.Remove(name)
	_, err = file.Write(make([]byte, size))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("run folder %s does not take %d MiB: %w", f.dir, size>>20, err)
	}
	return nil
}

// WriteRun writes run.json; again when the run ends.
func (f *Folder) WriteRun(r Run) error {
	r.Schema = RunSchema
	return f.writeJSON(RunFile, r)
}

// WriteScenario writes the resolved scenario.
func (f *Folder) WriteScenario(yaml []byte) error { return f.WriteBytes(ScenarioFile, yaml) }

// WriteSummary writes summary.json.
func (f *Folder) WriteSummary(s Summary) error {
	s.Schema = SummarySchema
	return f.writeJSON(SummaryFile, s)
}

// WriteTrial writes a trial as soon as it has ended. Its interval log is a Stream, committed before, so that a trial
// that can be read has its log.
func (f *Folder) WriteTrial(t Trial) error {
	t.Schema = TrialSchema
	return f.writeJSON(path.Join(TrialsDir, TrialName(t.Order, t.Slug, t.Trial))+".json", t)
}

func (f *Folder) writeJSON(name string, v any) error {
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.WriteBytes(name, b)
}

// WriteBytes writes a file of the folder, as "charts/percentiles.svg". A name that leads out of the folder is refused.
func (f *Folder) WriteBytes(name string, b []byte) error {
	if err := f.replace(name, b); err != nil {
		return fmt.Errorf("write %s in %s: %w", name, f.dir, err)
	}
	return nil
}

func (f *Folder) replace(name string, b []byte) error {
	local, err := filepath.Localize(name)
	if err != nil {
		return err
	}
	dir := filepath.Dir(local)
	if err := f.root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temporary := filepath.Join(dir, "."+filepath.Base(local)+".part")
	if err := f.writeSynced(temporary, b); err != nil {
		f.root.Remove(temporary)
		return err
	}
	if err := f.root.Rename(temporary, local); err != nil {
		f.root.Remove(temporary)
		return err
	}
	return f.syncDir(dir)
}

func (f *Folder) writeSynced(name string, b []byte) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	return errors.Join(err, file.Sync(), file.Close())
}

// syncDir makes a rename last. Some file systems cannot sync a folder and say so with an error that changes nothing.
func (f *Folder) syncDir(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	d.Sync()
	return d.Close()
}

// encode is JSON with two blanks of indent, map keys sorted, and < > & as they are: equal values give equal bytes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// RunData is a run folder as read.
type RunData struct {
	Dir      string
	Run      Run
	Summary  *Summary // nil where the run ended before it was written
	Trials   []Trial  // in the order of the run
	Logs     []string // interval logs of trials that are there, as "trials/001-a-t1.hlog"
	Scenario []byte   // scenario.yaml; nil where there is none
}

// Read reads a run folder, whole or partial. It is strict: an unknown schema or field, a value that contradicts the
// file's name, and a file of unreasonable size are errors that name the file. It never leaves the folder.
func Read(dir string) (RunData, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return RunData{}, fmt.Errorf("read run: %w", err)
	}
	defer root.Close()
	data, err := read(root)
	data.Dir = dir
	if errors.Is(err, fs.ErrNotExist) {
		return RunData{}, fmt.Errorf("read run %s: it is not a run folder: %w", dir, err)
	}
	if err != nil {
		return RunData{}, fmt.Errorf("read run %s: %w", dir, err)
	}
	return data, nil
}

func read(root *os.Root) (RunData, error) {
	var data RunData
	var err error
	if data.Run, err = readRun(root); err != nil {
		return data, err
	}
	if data.Scenario, err = optional(readFile(root, ScenarioFile, maxScenario)); err != nil {
		return data, err
	}
	if data.Summary, err = readSummary(root); err != nil {
		return data, err
	}
	if data.Trials, err = readTrials(root); err != nil {
		return data, err
	}
	data.Logs, err = fs.Glob(root.FS(), path.Join(TrialsDir, "*.hlog"))
	return data, err
}

func readRun(root *os.Root) (Run, error) {
	b, err := readFile(root, RunFile, maxFile)
	if err != nil {
		return Run{}, err
	}
	r, err := decodeRun(b)
	return r, in(RunFile, err)
}

func readSummary(root *os.Root) (*Summary, error) {
	b, err := optional(readFile(root, SummaryFile, maxFile))
	if b == nil || err != nil {
		return nil, err
	}
	s, err := decodeSummary(b)
	return &s, in(SummaryFile, err)
}

// trialFile is a trial's name. Other files (.hlog, .ops.jsonl, the rest of an interrupted write) are not read.
var trialFile = regexp.MustCompile(`^([0-9]{3,})-([a-z0-9.+=-]{1,80})-t([0-9]+)\.json$`)

func readTrials(root *os.Root) ([]Trial, error) {
	names, err := trialFiles(root)
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, 0, len(names))
	for _, name := range names {
		t, err := readTrial(root, name)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	slices.SortStableFunc(trials, func(a, b Trial) int { return a.Order - b.Order })
	return trials, nil
}

func trialFiles(root *os.Root) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), TrialsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if trialFile.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxTrials {
		return nil, fmt.Errorf("%s has %d trials, more than %d", TrialsDir, len(names), maxTrials)
	}
	return names, err
}

func readTrial(root *os.Root, name string) (Trial, error) {
	file := path.Join(TrialsDir, name)
	b, err := readFile(root, file, maxFile)
	if err != nil {
		return Trial{}, err
	}
	t, err := decodeTrial(b)
	if err != nil {
		return Trial{}, in(file, err)
	}
	if want := TrialName(t.Order, t.Slug, t.Trial) + ".json"; want != name {
		return Trial{}, in(file, fmt.Errorf("its content belongs into %s", want))
	}
	return t, nil
}

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return nil, in(name, errors.Join(err, errors.New("it is not a regular file")))
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("larger than %d MiB", limit>>20)
	}
	return b, in(name, err)
}

// optional turns the absence of a file into nil.
func optional(b []byte, err error) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func in(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// EncodeSummary writes a summary as the file has it.
func EncodeSummary(w io.Writer, s Summary) error {
	s.Schema = SummarySchema
	b, err := encode(s)
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	_, err = w.Write(b)
	return err
}
