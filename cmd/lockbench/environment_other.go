//go:build !linux

package main

// Other systems tell these facts by means of their own, each another; what is missing is not guessed.
func machineFacts() map[string]string { return nil }

func freeDisk(string) (bytes uint64, known bool) { return 0, false }
