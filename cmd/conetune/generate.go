package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/problems/dataset"
)

const generateHelp = `Write synthetic data as in the paper's experiments, in the form that
conetune tune MODEL --dir DIR reads: train.csv.gz, val.csv.gz, test.csv.gz.

Rows are normal with correlation 0.5^|j-k| between features j and k, 15 coefficients
at random places are 1 and the others 0, and the noise has half the norm of the
signal. elastic-net and weighted-lasso have the same data.

--preset is one of %s,
or any name of that form: rows for training, validation and test, then p and the
number of features.`

func (a *app) generateCommand() *cobra.Command {
	var preset, out string
	var seed uint64
	cmd := &cobra.Command{
		Use:       "generate MODEL --out DIR",
		Short:     "Write synthetic data with known coefficients",
		Long:      sprintf(generateHelp, joined(dataset.Presets())),
		Example:   "  conetune generate elastic-net --preset 100-20-250-p250 --seed 1 --out data",
		ValidArgs: modelNames(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badInputf("expected one model, got %d arguments; known models are: %s", len(args), joined(modelNames()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := findModel(args[0]); err != nil {
				return err
			}
			if out == "" {
				return badInputf("--out DIR is missing")
			}
			return a.generate(cmd.Context(), preset, seed, out)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&preset, "preset", dataset.Presets()[0], "sizes, `TRAIN-VAL-TEST-pFEATURES`")
	fs.Uint64Var(&seed, "seed", 1, "seed `N`; the same seed gives the same data")
	fs.StringVar(&out, "out", "", "folder `DIR`, which must be new or empty")
	return cmd
}

// generate draws and writes the data.
func (a *app) generate(ctx context.Context, preset string, seed uint64, out string) error {
	config, err := dataset.Preset(preset)
	if err != nil {
		return badInputf("--preset: %w", err)
	}
	entries, err := os.ReadDir(out)
	created, empty := errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0
	type drawn struct {
		split *dataset.Split
		b     []float64
	}
	d, err := interruptible(ctx, func() (drawn, error) {
		split, b, err := dataset.Generate(config, seed)
		if err != nil {
			return drawn{}, badInput(err)
		}
		if ctx.Err() != nil {
			return drawn{}, errInterrupted
		}
		if err := dataset.WriteDir(split, out); err != nil {
			return drawn{}, badInput(err)
		}
		return drawn{split, b}, nil
	})
	if errors.Is(err, errInterrupted) && (created || empty) {
		discard(out, created)
	}
	if err != nil {
		return err
	}
	var support []string
	for j, v := range d.b {
		if v != 0 {
			support = append(support, d.split.Train.Features[j])
		}
	}
	return a.print(fmt.Sprintf("%s: %d training, %d validation, %d test rows of %s, seed %d\ncoefficients are 1 for %s, 0 for the others\n",
		out, config.Train, config.Val, config.Test, count(config.Features, "feature"), seed, strings.Join(support, " ")))
}

// discard takes away what an interrupted run has written into a folder that was
// empty or not there before. What cannot be removed stays: the program ends anyway.
func discard(dir string, created bool) {
	if created {
		_ = os.RemoveAll(dir)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}
