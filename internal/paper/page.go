package paper

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/worklist"
)

// pageFile is the name of the page.
const pageFile = "report.html"

//go:embed body.html
var body string

var page = webpage.New("paper", body)

// WriteReport writes figures and page into the folder of results dir.
func WriteReport(dir string, o *Outcome) error {
	folder := filepath.Join(dir, FiguresDir)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	figures := figuresOf(o)
	for k := range figures {
		f := &figures[k]
		for _, ending := range []string{".svg", ".png"} {
			path := filepath.Join(folder, f.name+ending)
			if err := atomicfile.Write(path, f.As(path)); err != nil {
				return fmt.Errorf("figure %s: %w", f.name, err)
			}
		}
	}
	return atomicfile.Write(filepath.Join(dir, pageFile), func(w io.Writer) error { return writePage(w, o, figures) })
}

// contents is what the body of the page is made of.
type contents struct {
	Manifest Manifest
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

func writePage(w io.Writer, o *Outcome, figures []chart) error {
	c := contents{Manifest: o.Manifest, Runs: len(o.Records), Missing: o.Missing, Notes: o.Notes}
	for _, r := range o.Records {
		c.Versions = worklist.With(c.Versions, r.Version)
		if r.Settings != "" {
			c.Settings = worklist.With(c.Settings, r.Table+" "+r.Row+": "+r.Settings)
		}
	}
	summaries := Summarise(o.Manifest.Plan, o.Records)
	c.Glance = glance(summaries)
	for _, s := range summaries {
		sec := section{ID: s.Table.Name, Title: s.Table.Title, Validation: s.Table.Validation, Test: s.Table.Test}
		for k := range s.Rows {
			r := &s.Rows[k]
			p := part{ID: s.Table.Name + "-" + r.Row.Name, Title: r.Row.Title, Name: s.Table.Name + " " + r.Row.Name,
				Skipped: r.Skipped}
			for at := range r.Verdicts {
				p.Verdicts = append(p.Verdicts, r.Verdicts[at].String())
			}
			p.Table = o.Manifest.Plan.Table("table-"+p.ID, s.Table.Title+": "+r.Row.Title, r)
			for _, f := range figures {
				if f.table == s.Table.Name && f.row == r.Row.Name {
					picture, err := webpage.Draw("figure-"+f.name, f.title, strings.ToUpper(f.caption[:1])+f.caption[1:], f.about,
						f.Figure)
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

// glance says for every row how VF-iDCA stands; nil where there is nothing to say.
func glance(summaries []Summary) *webpage.Table {
	t := webpage.NewTable("table-glance", "VF-iDCA and the best of the other methods", webpage.Text("data"))
	t.Sortable = true
	for _, q := range compared {
		t.Columns = append(t.Columns, webpage.Text(q.title))
	}
	for _, s := range summaries {
		for _, r := range s.Rows {
			if len(r.Verdicts) == 0 {
				continue
			}
			cells := webpage.Texts(s.Table.Name + " " + r.Row.Name)
			for k := range compared {
				cells = append(cells, standing(r.Verdicts, quantity(k)))
			}
			t.Add(cells...)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// standing is the verdict on a quantity in a few words, sorted from the best to the worst.
func standing(verdicts []Verdict, of quantity) webpage.Cell {
	for k := range verdicts {
		if v := &verdicts[k]; v.of == of {
			c := webpage.Sorted([]string{"best", "close to ", "behind "}[v.Standing()], strconv.Itoa(int(v.Standing())))
			if c.Strong = v.Standing() == Leading; !c.Strong {
				c.Text += v.Best.Method.Title
			}
			return c
		}
	}
	return webpage.Sorted("-", "")
}
