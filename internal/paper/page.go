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
	"github.com/conetune/conetune/internal/figure"
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
	for _, row := range figures {
		for _, f := range row {
			for _, ending := range []string{".svg", ".png"} {
				path := filepath.Join(folder, strings.TrimPrefix(f.ID, "figure-")+ending)
				if err := atomicfile.Write(path, f.As(path)); err != nil {
					return fmt.Errorf("%s: %w", f.ID, err)
				}
			}
		}
	}
	return atomicfile.Write(filepath.Join(dir, pageFile), func(w io.Writer) error { return writePage(w, o, figures) })
}

// contents is what the body of the page is made of.
type contents struct {
	*Outcome
	Versions, Settings []string
	Glance             *webpage.Table
	Summaries          []Summary
	Figures            map[string][]figure.Figure // by [Summary.ID]
}

// Table is that of a row.
func (c contents) Table(s Summary, r RowSummary) *webpage.Table {
	return c.Manifest.Plan.Table("table-"+s.ID(r), s.Table.Title+": "+r.Row.Title, &r)
}

func writePage(w io.Writer, o *Outcome, figures map[string][]figure.Figure) error {
	c := contents{Outcome: o, Summaries: Summarise(o.Manifest.Plan, o.Records), Figures: figures}
	c.Glance = glance(c.Summaries)
	for _, r := range o.Records {
		c.Versions = worklist.With(c.Versions, r.Version)
		if r.Settings != "" {
			c.Settings = worklist.With(c.Settings, r.Table+" "+r.Row+": "+r.Settings)
		}
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
