// Package report writes what a person looks at after the experiments of package paper: figures as SVG and PNG, and one
// page, report.html, which holds all tables and figures and needs no other file.
//
//	figures/TABLE-ROW-iterate.svg .png   validation and test error of the iterate over time, as in the paper
//	figures/TABLE-ROW-refit.svg .png     the same of the best solution of the lower level so far
//	figures/TABLE-ROW-alpha.svg .png     the penalty parameter of VF-iDCA over its iterations
//	report.html
//
// A line of a figure is the mean over the seeds. At a time, a run counts with what it had last reached; before every
// run has reached something, there is no line; after the end of a run its last value stands. The same outcome gives
// the same bytes.
package report

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/paper"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/worklist"
)

const (
	// FiguresDir is the folder of the figures in a folder of results.
	FiguresDir = paper.FiguresDir
	// File is the name of the page.
	File = "report.html"
)

// Write writes figures and page into the folder of results dir.
func Write(dir string, o *paper.Outcome) error {
	folder := filepath.Join(dir, FiguresDir)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	figures, err := figuresOf(o)
	if err != nil {
		return err
	}
	for k := range figures {
		f := &figures[k]
		for _, format := range []string{"svg", "png"} {
			err := atomicfile.Write(filepath.Join(folder, f.name+"."+format), func(w io.Writer) error { return f.Write(w, format) })
			if err != nil {
				return fmt.Errorf("figure %s: %w", f.name, err)
			}
		}
	}
	return atomicfile.Write(filepath.Join(dir, File), func(w io.Writer) error { return writePage(w, o, figures) })
}

// contents is what the body of the page is made of.
type contents struct {
	Manifest paper.Manifest
	Runs     int
	Missing  int
	Notes    []string
	Versions []string
	Settings []string
	Glance   *webpage.Table
	Sections []section
}

// section is a table of the paper, a part one of its rows.
type section struct {
	ID, Title, Validation, Test string
	Parts                       []part
}

type part struct {
	ID, Title, Name, Skipped string
	Table                    *webpage.Table
	Verdicts                 []string
	Figures                  []webpage.Figure
}

func writePage(w io.Writer, o *paper.Outcome, figures []chart) error {
	c := contents{Manifest: o.Manifest, Runs: len(o.Records), Missing: o.Missing, Notes: o.Notes}
	for _, r := range o.Records {
		c.Versions = worklist.With(c.Versions, r.Version)
		if r.Settings != "" {
			c.Settings = worklist.With(c.Settings, r.Table+" "+r.Row+": "+r.Settings)
		}
	}
	summaries := paper.Summarise(o.Manifest.Plan, o.Records)
	c.Glance = glance(summaries)
	for _, s := range summaries {
		sec := section{ID: s.Table.Name, Title: s.Table.Title, Validation: s.Table.Validation, Test: s.Table.Test}
		for k := range s.Rows {
			r := &s.Rows[k]
			p := part{ID: s.Table.Name + "-" + r.Row.Name, Title: r.Row.Title, Name: s.Table.Name + " " + r.Row.Name, Skipped: r.Skipped}
			for at := range r.Verdicts {
				p.Verdicts = append(p.Verdicts, r.Verdicts[at].String())
			}
			p.Table = o.Manifest.Plan.Table("table-"+p.ID, s.Table.Title+": "+r.Row.Title, r)
			for _, f := range figures {
				if f.table == s.Table.Name && f.row == r.Row.Name {
					picture, err := webpage.Draw("figure-"+f.name, f.title, strings.ToUpper(f.caption[:1])+f.caption[1:], f.about, f.Figure)
					if err != nil {
						return fmt.Errorf("figure %s: %w", f.name, err)
					}
					p.Figures = append(p.Figures, picture)
				}
			}
			sec.Parts = append(sec.Parts, p)
		}
		c.Sections = append(c.Sections, sec)
	}
	return webpage.Write(w, page, "The experiments of the VF-iDCA paper, repeated", c)
}

var page = webpage.New("paper", body)

//go:embed body.html
var body string

// glance says for every row how VF-iDCA stands; nil where there is nothing to say.
func glance(summaries []paper.Summary) *webpage.Table {
	t := &webpage.Table{ID: "table-glance", Caption: "VF-iDCA and the best of the other methods", Sortable: true, Columns: []webpage.Column{{Title: "data"}}}
	for _, name := range paper.MeasureNames() {
		t.Columns = append(t.Columns, webpage.Column{Title: name})
	}
	for _, s := range summaries {
		for _, r := range s.Rows {
			if len(r.Verdicts) == 0 {
				continue
			}
			row := webpage.Row{Cells: []webpage.Cell{{Text: s.Table.Name + " " + r.Row.Name}}}
			for _, name := range paper.MeasureNames() {
				row.Cells = append(row.Cells, standing(r.Verdicts, name))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// standing is the verdict on a measure in a few words, sorted from the best to the worst.
func standing(verdicts []paper.Verdict, measure string) webpage.Cell {
	c := webpage.Cell{Text: "-", Key: new(string)}
	for k := range verdicts {
		v := &verdicts[k]
		if v.Measure != measure {
			continue
		}
		*c.Key = strconv.Itoa(int(v.Standing()))
		switch v.Standing() {
		case paper.Leading:
			c.Text, c.Strong = "best", true
		case paper.Close:
			c.Text = "close to " + v.Best.Method.Title
		default:
			c.Text = "behind " + v.Best.Method.Title
		}
	}
	return c
}
