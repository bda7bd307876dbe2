package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/worklist"
)

// workFlags are the flags of commands that do a list of work.
type workFlags struct {
	out, shard string
	resume     bool
	workers    int
}

// workOptions are the options of such a command, whose flag for how much is done at once has a name.
func workOptions[P any](f *workFlags, flag, command string) (o worklist.Options[P], err error) {
	if f.out == "" {
		return o, badInputf("--out DIR is missing")
	}
	if f.workers < 0 || f.workers > mostThreads {
		return o, badInputf("--%s is %d, expected a positive number, at most %d", flag, f.workers, mostThreads)
	}
	if err := checkFolder(f.out); err != nil {
		return o, err
	}
	if o.Shard, err = worklist.ParseShard(f.shard); err != nil {
		return o, badInputf("--shard: %w", err)
	}
	o.Dir, o.Resume, o.Workers = f.out, f.resume, f.workers
	o.Version, o.Machine, o.Command = version(), machine(), command
	return o, nil
}

// workError says whose fault it is that a list of work could not be done.
func workError(err error, input ...error) error {
	var damage *worklist.DamageError
	if errors.Is(err, worklist.ErrExists) || errors.As(err, &damage) {
		return badInput(err)
	}
	for _, other := range input {
		if errors.Is(err, other) {
			return badInput(err)
		}
	}
	return failed(err)
}

// reportWork says what there is to know of earlier runs, and prints what was done.
func (a *app) reportWork(notes []string, text string) error {
	for _, n := range notes {
		a.note("conetune: %s", n)
	}
	return a.print(text)
}

// interruptedWork is the end of a command whose work is kept.
func (a *app) interruptedWork(kept string) error {
	a.note("conetune: interrupted; %s", kept)
	return &exitError{code: exitInterrupted}
}

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
