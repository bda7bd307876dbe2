// Package look has the command conetune look.
package look

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/tune"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
)

const help = `Say what a table is read as, before anything is fitted: how it is written, its rows, and of each
column what it is used for, its type, levels or range, and missing values; then what is suspicious, as conetune tune
tells it: names and numbers of rows, codes of missing values, columns that say the target by themselves. --target names
the target, y by default; without one that is passed over.`

// Command is conetune look.
func Command(a *cli.App) *cobra.Command {
	var o table.Options
	var w table.Wanted
	var asJSON bool
	var name string
	cmd := &cobra.Command{
		Use:   "look FILE",
		Short: "Say what a table is read as, before anything is fitted",
		Long:  help,
		Example: `  conetune look table.csv
  conetune look visits.xlsx --target ill --model logistic --json`,
		Args: cli.One("table", ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := tune.CheckDialect(&o); err != nil {
				return err
			}
			if name != "" {
				spec, err := cli.FindModel(name)
				if err != nil {
					return err
				}
				var s input.Source
				spec.Prepare(&s)
				w.Survival, w.Classes, w.MostClasses = s.Wanted.Survival, s.Wanted.Classes, s.Wanted.MostClasses
			} else {
				w.Classes, w.MostClasses = true, math.MaxInt // any target is right
			}
			l, err := cli.Interruptible(cmd.Context(), func() (table.Look, error) {
				in := input.Input{Stdin: a.Stdin}
				defer in.Close()
				return lookAt(&in, args[0], o, w)
			})
			if err != nil {
				return cli.BadInput(err)
			}
			l.Findings = cli.Flagged(a.Flags, l.Findings)
			if asJSON {
				return a.PrintJSON(l)
			}
			return a.Print(describe(l))
		},
	}
	cli.AddFlags(cmd, slices.Concat([]cli.Flag{
		cli.NewFlag("target", &w.Targets, "`COLUMN` of the target, or several with commas (a name with a "+
			"comma stands in double quotes in lists; default: y where it is there)"),
		cli.NewFlag("model", &name, "`MODEL` that is to be tuned, which says what the target may be"),
		cli.NewFlag("categorical", &w.Categorical, "columns `A,B,..` whose numbers are names"),
		cli.NewFlag("drop", &w.Drop, "columns `A,B,..` to leave out"),
	}, tune.FormFlags(&w.Forms), tune.DialectFlags(&o), []cli.Flag{
		cli.MemoryFlag(),
		cli.NewFlag("json", &asJSON, "print one JSON object"),
	})...)
	return cmd
}

// lookAt reads a table, or a file in the format of LIBSVM, whose features are numbers.
func lookAt(in *input.Input, path string, o table.Options, w table.Wanted) (table.Look, error) {
	if !in.IsLIBSVM(path) {
		t, err := in.Table(path, o)
		if err != nil {
			return table.Look{}, err
		}
		return table.LookAt(t, w), nil
	}
	d, err := in.Rows(path, nil)
	if err != nil {
		return table.Look{}, err
	}
	n, p := d.Dims()
	text := fmt.Sprintf("a LIBSVM file: %s from %s to %s, of whose values %s are not zero; targets from %s to %s",
		words.Count(p, "feature"), d.Features[0], d.Features[p-1],
		words.Short(100*float64(d.Nonzeros())/float64(n*p))+" %", words.Number(slices.Min(d.Y)),
		words.Number(slices.Max(d.Y)))
	return table.Look{File: path, Rows: n, Columns: []table.LookColumn{}, Findings: []table.Finding{{Kind: "dialect",
		Text: text}}}, nil
}

// describe is a look as text.
func describe(l table.Look) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", l.File, words.Count(l.Rows, "row"))
	if len(l.Columns) > 0 {
		fmt.Fprintf(&b, ", %s", words.Count(len(l.Columns), "column"))
	}
	if l.Separator != "" {
		fmt.Fprintf(&b, "; %q between cells, %q in numbers", l.Separator, l.Decimal)
	}
	b.WriteString("\n\n")
	t := webpage.NewTable("", "", webpage.Text("column"), webpage.Text("use"), webpage.Text("type"),
		webpage.Number("missing"), webpage.Text("values"))
	for _, c := range l.Columns {
		form := ""
		if c.Form != "" {
			form = "; " + c.Form
		}
		t.AddTexts(c.Name, c.Use, c.Kind, fmt.Sprint(c.Missing), values(c)+form)
	}
	if len(l.Columns) > 0 {
		b.WriteString(t.String() + "\n")
	}
	for _, names := range l.Interactions {
		fmt.Fprintf(&b, "interaction %s\n", strings.Join(names, ":"))
	}
	for _, f := range l.Findings {
		b.WriteString(words.Wrapped("- " + f.Text))
	}
	return b.String()
}

// values are the levels or the range of a column.
func values(c table.LookColumn) string {
	const few = 5
	switch {
	case c.Different > 0:
		text := words.Joined(c.Levels[:min(few, len(c.Levels))])
		if c.Different > few {
			text += ", .."
		}
		return fmt.Sprintf("%s: %s", words.Count(c.Different, "level"), text)
	case c.Kind == table.Empty:
		return ""
	case c.Whole:
		return fmt.Sprintf("from %v to %v, whole", c.Low, c.High)
	}
	return fmt.Sprintf("from %v to %v", c.Low, c.High)
}
