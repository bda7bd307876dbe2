package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
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
	Curve                []*figure.Figure
	Coefficients         *webpage.Table
	CoefficientsNote     string
	Paths                []*figure.Figure
	On                   string
	Figures              []*figure.Figure
	Confusion            *webpage.Table
	Data, Findings, Made []string
	Command, Settings    string
	Trace                []*figure.Figure
}

// Page writes the page of a run, about the choice of the best of its methods.
func Page(w io.Writer, args []string, run *Run) error {
	what := summarize(run)
	r, j := what.chosen, what.judged
	c := reportContents{
		Command: commandLine(args), Settings: string(run.Settings), summary: what, Ladder: ladderTable(r),
		Made: []string{"conetune " + r.Version, fmt.Sprintf("seed %d", r.Seed), madeBy(r), "the model is trained on " +
			trainedOn(run, r)},
	}
	var more int
	c.Choice.Table, more = c.Choice.Table.First(mostListed)
	c.Choice.Note += words.Rest(more, " %d more are in --json.")
	switch {
	case len(run.Results) > 1:
		c.Methods = methodsTable(run)
	case j == nil || j.Entries:
		c.Errors = methodsTable(run)
	}
	c.Trace = traceOnPage(run)
	if c.Curve = curveOnPage(run, r); len(run.Results) > 1 { // how soon each method had what
		c.Curve, c.Trace = append(c.Trace, c.Curve...), nil
	}
	if run.Entries == nil {
		if c.Coefficients, c.CoefficientsNote, more = coefficientTable(run, r.RefitFit, j, mostListed); more > 0 {
			c.CoefficientsNote += fmt.Sprintf(" The %d largest are shown.", mostListed)
		}
		c.Paths = pathsOnPage(run, r)
	}
	if j != nil {
		c.On, c.Figures = words.Sentence(judgedOn(j)), predictionFigures(run, j, r.RefitFit)
		if r.RefitFit.Labels != nil {
			c.Confusion = confusionTable(run, j, r.RefitFit)
		}
	}
	for line := range strings.Lines(describeData(run)) {
		c.Data = append(c.Data, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "data ")))
	}
	for _, n := range run.Rows.Notes {
		c.Findings = append(c.Findings, n.File+": "+strings.ReplaceAll(n.Text, "\n", " "))
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
