package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

//go:embed page.html
var reportBody string

var reportPage = webpage.New("tune", reportBody)

// mostListed bounds the rows of the page's tables of coefficients and hyperparameters.
const mostListed = 40

// reportContents is what the body of the page is made of.
type reportContents struct {
	summary
	Errors, Methods      *webpage.Table
	Ladder               *webpage.Table
	Curve                []webpage.Figure
	Coefficients         *webpage.Table
	CoefficientsNote     string
	Paths                []webpage.Figure
	On                   string
	Figures              []webpage.Figure
	Confusion            *webpage.Table
	Data, Findings, Made []string
	Command, Settings    string
	Trace                []webpage.Figure
}

// Page writes the page of a run, about the choice of the best of its methods.
func Page(w io.Writer, args []string, run *Run, split *dataset.Split, results []*tune.Result) (err error) {
	what := summarize(run, split, results)
	r, j := what.chosen, what.judged
	c := reportContents{
		Command: commandLine(args), Settings: string(run.Settings), summary: what, Ladder: ladderTable(r),
		Made: []string{"conetune " + r.Version, fmt.Sprintf("seed %d", r.Seed), madeBy(r), "the model is trained on " +
			trainedOn(run, split, r)},
	}
	draw := func(list ...*drawing) (figures []webpage.Figure) {
		for _, d := range list {
			if d != nil && err == nil {
				var f webpage.Figure
				f, err = d.onPage()
				figures = append(figures, f)
			}
		}
		return figures
	}
	var more int
	c.Choice.Table, more = c.Choice.Table.First(mostListed)
	c.Choice.Note += words.Rest(more, " %d more are in --json.")
	switch {
	case len(results) > 1:
		c.Methods = methodsTable(run, results)
	case j == nil || j.Entries:
		c.Errors = methodsTable(run, results)
	}
	progress := draw(traceDrawing(run, results))
	if c.Curve = draw(curveDrawing(run, r)); len(results) > 1 { // how soon each method had what
		c.Curve, progress = append(progress, c.Curve...), nil
	}
	if run.Entries == nil {
		if c.Coefficients, c.CoefficientsNote, more = coefficientTable(run, r.RefitFit, j, mostListed); more > 0 {
			c.CoefficientsNote += fmt.Sprintf(" The %d largest are shown.", mostListed)
		}
		c.Paths = draw(pathDrawing(split, r))
	}
	if j != nil {
		c.On, c.Figures = words.Sentence(judgedOn(j)), draw(predictionDrawings(run, j, r.RefitFit)...)
		if r.RefitFit.Labels != nil {
			c.Confusion = confusionTable(run, j, r.RefitFit)
		}
	}
	for line := range strings.Lines(describeData(run, split)) {
		c.Data = append(c.Data, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "data ")))
	}
	for _, n := range run.Rows.Notes {
		c.Findings = append(c.Findings, n.File+": "+strings.ReplaceAll(n.Text, "\n", " "))
	}
	if c.Trace = progress; err != nil {
		return err
	}
	return webpage.Write(w, reportPage, "How "+what.target+" was modelled", c)
}

// commandLine is a command line as a shell takes it.
func commandLine(args []string) string {
	words := []string{"conetune"}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;!#~") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}
