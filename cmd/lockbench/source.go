package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lockbench/lockbench/scenarios"
)

// source is the text of a scenario: a file, or a built-in by its name. What looks like a path is one.
func source(name string) ([]byte, error) {
	if src, ok := scenarios.Source(name); ok {
		if _, err := os.Stat(name); err == nil {
			return nil, fmt.Errorf("%s is a built-in scenario and a file here: write ./%s for the file", name, name)
		}
		return src, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: a scenario is not read from a folder, pipe or device", name)
	}
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, `/\.`) {
		return nil, unknownScenario(name)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// One byte more than is allowed, so that the reader says what is wrong with it.
	return io.ReadAll(io.LimitReader(file, scenarios.MaxSize+1))
}

func unknownScenario(name string) error {
	if guess := scenarios.Closest(name, scenarios.Builtin()); guess != "" {
		return fmt.Errorf("there is no file and no built-in scenario %q (did you mean %q?)", name, guess)
	}
	return fmt.Errorf("there is no file and no built-in scenario %q; `lockbench list scenarios` shows those that are built in", name)
}

// read reads and validates all files before anything is started; the error has every problem of every file.
func read(files, set []string) ([]*scenarios.Scenario, error) {
	voc := vocabulary()
	var all []*scenarios.Scenario
	var errs []error
	for _, file := range files {
		src, err := source(file)
		if err == nil {
			var s *scenarios.Scenario
			if s, err = scenarios.Read(file, src, voc, set); err == nil {
				all = append(all, s)
			}
		}
		errs = append(errs, err)
	}
	return all, usageError(errors.Join(errs...))
}
