package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/worklist"
)

// CompleteWork checks the options of a list of work, and says which part of it is to be done, and by what.
func CompleteWork[P any](o *worklist.Options[P], shard, command string) (err error) {
	if err := CheckFolder(o.Dir); err != nil {
		return err
	}
	if o.Shard, err = worklist.ParseShard(shard); err != nil {
		return BadInputf("--shard: %w", err)
	}
	o.Version, o.Machine, o.Command = Version(), Machine(), command
	return nil
}

// WorkError says whose fault it is that a list of work could not be done.
func WorkError(err error, input ...error) error {
	if _, damaged := errors.AsType[*worklist.DamageError](err); damaged || errors.Is(err, worklist.ErrExists) {
		return BadInput(err)
	}
	for _, other := range input {
		if errors.Is(err, other) {
			return BadInput(err)
		}
	}
	return Failed(err)
}

// ReportWork says what there is to know of earlier runs, and prints what was done.
func (a *App) ReportWork(notes []string, text string) error {
	for _, n := range notes {
		a.Note("conetune: %s", n)
	}
	return a.Print(text)
}

// InterruptedWork is the end of a command whose work is kept.
func (a *App) InterruptedWork(kept string) error {
	a.Note("conetune: interrupted; %s", kept)
	return &ExitError{Code: ExitInterrupted}
}

// Merging is a command that puts the shards of another one together.
type Merging[R, P any] struct {
	Of, Long, Example string // of is the other one, "conetune batch" for example
	Merge             func(parts []string, into string) (*worklist.Outcome[R, P], error)
	Report            func(out *worklist.Outcome[R, P], dir string) error
	Missing           func(n int) string // names so many items of the work
}

func (m Merging[R, P]) Command() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "merge DIR... --out DIR",
		Short:   "Put the shards of " + m.Of + " together",
		Long:    m.Long,
		Example: m.Example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return BadInputf("expected the folders of the parts")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := CheckFolder(out); err != nil {
				return err
			}
			merged, err := m.Merge(args, out)
			if errors.Is(err, fs.ErrNotExist) {
				return BadInputf("%w: expected folders of %s", err, m.Of)
			} else if err != nil {
				return BadInput(err)
			}
			if err := m.Report(merged, out); err != nil {
				return err
			}
			if merged.Missing > 0 {
				return Failed(fmt.Errorf("still missing: %s; the shards here are %s", m.Missing(merged.Missing),
					strings.Join(merged.Manifest.Shards, ", ")))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder `DIR` for the whole, which must have no results yet")
	return cmd
}
