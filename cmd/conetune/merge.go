package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/worklist"
)

// merging is a command that puts the shards of another one together.
type merging[R, P any] struct {
	of, long, example string // of is the other one, "conetune batch" for example
	merge             func(parts []string, into string) (*worklist.Outcome[R, P], error)
	report            func(out *worklist.Outcome[R, P], dir string) error
	missing           func(n int) string // names so many items of the work
}

func (m merging[R, P]) command() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "merge DIR... --out DIR",
		Short:   "Put the shards of " + m.of + " together",
		Long:    m.long,
		Example: m.example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInputf("expected the folders of the parts")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return badInputf("--out DIR is missing")
			}
			if err := checkFolder(out); err != nil {
				return err
			}
			merged, err := m.merge(args, out)
			if errors.Is(err, fs.ErrNotExist) {
				return badInputf("%w: expected folders of %s", err, m.of)
			} else if err != nil {
				return badInput(err)
			}
			if err := m.report(merged, out); err != nil {
				return err
			}
			if merged.Missing > 0 {
				return failed(fmt.Errorf("still missing: %s; the shards here are %s", m.missing(merged.Missing), strings.Join(merged.Manifest.Shards, ", ")))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder `DIR` for the whole, which must have no results yet")
	return cmd
}
