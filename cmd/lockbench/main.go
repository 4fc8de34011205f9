// Command lockbench measures, plans and breaks distributed locks on Redis.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // who reads our output may leave; the run folder is still to be written
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "lockbench: interrupted; what was measured is being written, a second interrupt ends at once")
		restore() // a second interrupt ends the process at once; servers that it started die with it
	}()
	os.Exit(lockbench(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit statuses. Where several apply to a run, see ending.
const (
	statusPass        = 0
	statusFailed      = 1   // could not be done: the target failed, or an internal error
	statusUsage       = 2   // bad usage or file
	statusUnfit       = 3   // this machine cannot do it
	statusThreshold   = 4   // a verdict differs from what was expected, or a threshold failed
	statusInvalid     = 6   // the measurement is invalid, or a threshold unknown
	statusInterrupted = 130 // what was measured is written
)

// statusError is an error with an exit status. Err is nil where everything has been said already.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usageError marks err as bad usage or a bad file: exit status 2.
func usageError(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{statusUsage, err}
}

// app is what every command works with. Results go to out, everything for people's eyes to errOut.
type app struct {
	out, errOut io.Writer
	args        []string // as typed, for run.json
}

// lockbench runs one command line and returns its exit status.
func lockbench(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot(&app{out: out, errOut: errOut, args: args})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusPass
	}
	var coded *statusError
	if !errors.As(err, &coded) {
		coded = &statusError{statusUsage, err} // cobra's own errors are about flags and arguments
	}
	if coded.err != nil {
		fmt.Fprintf(errOut, "lockbench: %v\n", coded.err)
	}
	return coded.status
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "lockbench",
		Short: "Measure, plan and break distributed locks on Redis",
		Long: `lockbench measures distributed locks on Redis. A scenario file says what contends for which locks; lockbench runs it
over lock strategies and retry policies, on real servers, and answers with numbers, charts and a safety verdict.

  lockbench run quickstart        the first comparison, in under a minute
  lockbench list scenarios        what else is built in
  lockbench validate my.yaml      check a scenario of your own`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.AddCommand(
		newRunCommand(a), newValidateCommand(a), newReportCommand(a), newListCommand(a), newSchemaCommand(a),
		newDoctorCommand(a), newVersionCommand(a),
	)
	return root
}
