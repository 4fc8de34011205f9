package main

import (
	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/scenarios"
)

func newSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files, for editors",
		Long: `Print the JSON Schema (draft 2020-12) of scenario files. Editors with a YAML language server complete and check with it:

  lockbench schema > lockbench.schema.json

and as the first line of a scenario

  # yaml-language-server: $schema=lockbench.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := scenarios.Schema(vocabulary())
			if err != nil {
				return &statusError{statusFailed, err}
			}
			_, err = a.out.Write(b)
			return err
		},
	}
}
