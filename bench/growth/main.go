// Command growth measures how CPU time and peak memory of conetune grow with a table, and draws it.
//
//	go run ./bench/growth --conetune PATH --csv docs/growth.csv --out docs/growth.png
//
// Each run is a process of its own on one thread: reading, the method, the final fit and the report. Runs that are in the
// CSV file are not made again, so that the picture can be drawn anew or the tables be made larger (--most). A series ends with the first run that
// takes longer than --limit. Memory is the largest resident set, on systems that tell.
//
// Tables have half of their rows for training and a quarter each for validation and test. Features are normal, or have about 60 entries
// a row, most of them in few columns; the target is that of 20 features and as much noise as half of what they say.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/figure"
)

func main() {
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func measure() error {
	program := flag.String("conetune", "", "the `PROGRAM` to measure; without one the picture is drawn of what was measured before")
	dir := flag.String("dir", "", "folder for tables, which are removed again (default: a temporary one)")
	csv := flag.String("csv", "docs/growth.csv", "what was measured")
	out := flag.String("out", "docs/growth.png", "the picture, .png or .svg")
	most := flag.Float64("most", 1e7, "largest number of nonzeros of a table")
	limit := flag.Duration("limit", 2*time.Minute, "longest run, by the clock")
	only := flag.String("sweep", "", "rows, features or nonzeros alone")
	flag.Parse()
	runs, err := read(*csv)
	if err != nil {
		return err
	}
	if *program != "" {
		folder, err := os.MkdirTemp(*dir, "growth")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		m := measurement{program: *program, dir: folder, limit: *limit, runs: runs, save: func(runs []run) error { return write(*csv, runs) }}
		for _, s := range sweeps {
			if *only != "" && *only != s.name {
				continue
			}
			if err := m.sweep(s, *most); err != nil {
				return err
			}
		}
		runs = m.runs
	}
	format, err := figure.Format(*out)
	if err != nil {
		return err
	}
	return atomicfile.Write(*out, func(w io.Writer) error { return draw(runs).Write(w, format) })
}

// measurement is what the sweeps share.
type measurement struct {
	program, dir string
	limit        time.Duration
	runs         []run
	save         func([]run) error
}

// sweep makes the runs of a sweep that are missing.
func (m *measurement) sweep(s sweep, most float64) error {
	over := make(map[job]bool)
	for _, t := range s.tables() {
		if float64(t.nonzeros()) > most {
			break
		}
		var missing []job
		for _, j := range s.jobs {
			if !over[j] && !known(m.runs, s, t, j) {
				missing = append(missing, j)
			}
		}
		if len(missing) == 0 {
			continue
		}
		folder := filepath.Join(m.dir, fmt.Sprintf("%s-%d-%d", s.name, t.rows, t.features))
		for _, labels := range []bool{false, true} {
			var these []job
			for _, j := range missing {
				if j.labels() == labels {
					these = append(these, j)
				}
			}
			if len(these) == 0 {
				continue
			}
			if err := t.write(folder, labels); err != nil {
				return err
			}
			for _, j := range these {
				r, err := m.run(s, t, j, folder)
				if errors.Is(err, context.DeadlineExceeded) {
					over[j] = true
					fmt.Fprintf(os.Stderr, "%s %s %s: %d nonzeros: over %s\n", s.name, j.model, j.method, t.nonzeros(), m.limit)
					continue
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(os.Stderr, r.line())
				m.runs = append(m.runs, r)
				if err := m.save(m.runs); err != nil {
					return err
				}
			}
		}
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	return nil
}
