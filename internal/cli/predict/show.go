package predict

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table"
)

const showHelp = `Print a model that conetune tune --save wrote: what it predicts, how it was made, its errors, the
hyperparameters, how the columns of a table become features, and the coefficients that are not zero, in the units of the
table, those of the largest effect first.`

// Show is conetune show.
func Show(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show MODEL.json",
		Short:   "Print a saved model",
		Long:    showHelp,
		Example: "  conetune show model.json",
		Args:    cli.One("model file", ""),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.ReadModel(args[0])
			if err != nil {
				return cli.BadInput(err)
			}
			if asJSON {
				return a.PrintJSON(shownOf(m))
			}
			return a.Print(describeModel(m))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// shownModel is the outcome of conetune show as JSON.
type shownModel struct {
	Model           string             `json:"model"`
	Target          string             `json:"target"`
	Targets         []string           `json:"targets,omitempty"`
	Labels          []string           `json:"labels,omitempty"`
	Loss            *model.Loss        `json:"loss,omitempty"`
	ErrorUnit       string             `json:"error_unit"`
	ValidationError *float64           `json:"validation_error"`
	TestError       *float64           `json:"test_error"`
	Hyperparameters map[string]float64 `json:"hyperparameters"`
	Features        int                `json:"features"`
	Rows            int                `json:"rows,omitempty"`    // of a matrix
	Columns         int                `json:"columns,omitempty"` // of a matrix
	Encoding        *table.Encoder     `json:"encoding,omitempty"`
	Provenance      model.Provenance   `json:"provenance"`
	*report.ToldCoefficients
	// Effects are those of one standard deviation of the features, without signs; a file may lack the deviations.
	Effects map[string]float64 `json:"effects,omitempty"`
}

// effectsOf lists the coefficients of a saved model by their effects, or by their sizes where the file lacks the
// deviations.
func effectsOf(m *model.Model) []model.Effect {
	return model.Effects(m.Fit(), model.Sizes(m.Fit(), m.Deviations))
}

func shownOf(m *model.Model) shownModel {
	out := shownModel{
		Model: m.Model, Target: m.Target, Targets: m.Targets, Labels: m.LabelTexts(), Loss: m.Loss, ErrorUnit: unitOfModel(m),
		ValidationError: m.ValidationError, TestError: m.TestError, Hyperparameters: m.Hyperparameters,
		Features: len(m.Features), Encoding: m.Encoding, Provenance: m.Provenance,
		ToldCoefficients: report.TellCoefficients(m.Fit()),
	}
	if m.Matrix != nil {
		out.Rows, out.Columns = len(m.Matrix.RowEffects), len(m.Matrix.ColEffects)
	}
	if m.Deviations != nil {
		out.Effects = map[string]float64{}
		for _, e := range effectsOf(m) {
			out.Effects[e.Feature] = e.Size
		}
	}
	return out
}

// unitOfModel says what the saved errors are.
func unitOfModel(m *model.Model) string {
	spec, _ := cli.FindModel(m.Model) // as readModel has done
	return spec.Unit()
}

// describeModel is a saved model for people.
func describeModel(m *model.Model) string {
	var b strings.Builder
	p := m.Provenance
	target := "target " + m.Target
	if m.Targets != nil && !m.Classes() {
		target = "targets " + strings.Join(m.Targets, ", ")
	}
	fmt.Fprintf(&b, "%s, %s\n\n", m.Model, target)
	fmt.Fprintf(&b, "made by     %s, %s on the %s backend: %s, seed %d\n", p.Program, p.Method, p.Backend, p.Status,
		p.Seed)
	fmt.Fprintf(&b, "trained on  %s\n", strings.Join(p.Files, ", "))
	var rows, division []string
	for _, part := range []struct {
		list  *[]string
		there bool
		text  string
	}{
		{&rows, true, fmt.Sprintf("%d training", p.TrainingRows)}, {&rows, p.ValidationRows > 0, fmt.Sprintf("%d validation",
			p.ValidationRows)},
		{&rows, p.TestRows > 0, fmt.Sprintf("%d test", p.TestRows)},
		{&division, p.Folds > 0, fmt.Sprintf("%d folds", p.Folds)}, {&division, p.Repeats > 1,
			fmt.Sprintf("%d repeats", p.Repeats)},
		{&division, p.Division != "", "by " + p.Division}, {&division, p.Split != "", "split " + p.Split},
		{&division, m.Weights != "", "weighed by " + m.Weights}, {&division, m.Offset != "", "offset " + m.Offset},
	} {
		if part.there {
			*part.list = append(*part.list, part.text)
		}
	}
	fmt.Fprintf(&b, "            %s\n", words.Joined(append([]string{words.Joined(rows) + " rows"}, division...)))
	if l := m.Loss; l != nil {
		fmt.Fprintf(&b, "loss        %s\n", describeLoss(l))
	}
	fmt.Fprintf(&b, "error       %s: validation %s, test %s\n", unitOfModel(m), words.OrDash(m.ValidationError),
		words.OrDash(m.TestError))
	b.WriteString("\n" + describeChoice(m))
	if m.Encoding != nil {
		b.WriteString("\n" + describeEncoding(m.Encoding))
	}
	b.WriteString("\n" + describeCoefficients(m))
	return b.String()
}

func describeLoss(l *model.Loss) string {
	kind := l.Kind
	if l.Squared {
		kind = "squared " + kind
	}
	switch {
	case l.Ties != "":
		return l.Kind + ", " + l.Ties + " ties"
	case l.Threshold != 0:
		return l.Kind + ", linear beyond residuals of " + words.Number(l.Threshold)
	case l.Level != 0:
		return l.Kind + ", level " + words.Number(l.Level)
	case l.ClassWeights != nil:
		return kind + ", labels weighed by " + words.Numbers(l.ClassWeights)
	}
	return kind
}

// describeChoice lists the hyperparameters, the largest first where there are many.
func describeChoice(m *model.Model) string {
	spec, _ := cli.FindModel(m.Model) // as readModel has done
	t := report.NewChoices()
	if lambda, l1, ok := report.Mixed(m.Model, m.Hyperparameters["lambda1"], m.Hyperparameters["lambda2"]); ok {
		t.AddTexts("lambda", words.Number(lambda), "weight of the penalty")
		t.AddTexts("l1_ratio", words.Ratio(l1, 6), "share of the 1-norm in the penalty; alpha of glmnet")
		return t.String() + report.UnitsOf(spec, m.Provenance.Standardize)
	}
	t = webpage.NewTable("", "", webpage.Text("hyperparameter"), webpage.Number("lambda"))
	names := slices.Sorted(maps.Keys(m.Hyperparameters))
	slices.SortStableFunc(names, func(a, b string) int {
		if len(names) <= report.MostHyperparameters {
			return 0
		}
		return cmp.Compare(m.Hyperparameters[b], m.Hyperparameters[a])
	})
	for _, name := range names {
		t.AddTexts(name, words.Number(m.Hyperparameters[name]))
	}
	t, rest := t.First(report.MostHyperparameters)
	text := t.String() + words.Rest(rest, "and %d more that are smaller, see --json\n")
	return text + report.UnitsOf(spec, m.Provenance.Standardize)
}

// mostLevels bounds the levels that are listed.
const mostLevels = 8

// describeEncoding says how columns become features.
func describeEncoding(e *table.Encoder) string {
	t := webpage.NewTable("", "", webpage.Text("column"), webpage.Text("kind"),
		webpage.Text("levels, the reference first, and forms"), webpage.Text("missing values"))
	for _, c := range e.Columns {
		levels := words.Joined(c.Levels[:min(len(c.Levels), mostLevels)])
		levels += words.Rest(len(c.Levels)-mostLevels, " and %d more")
		if form := c.Form(); form != "" {
			levels = strings.TrimPrefix(levels+"; "+form, "; ")
		}
		missing := "become " + words.Number(c.Fill)
		if c.Kind == table.Category {
			missing = "are the reference"
		}
		if c.Others != nil {
			missing = "become regressions on the other columns"
		}
		switch {
		case e.Rule == table.DropRows || e.Rule == table.Reject:
			missing = "none in training"
		case c.Missing && c.Kind == table.Category:
			missing = "are a level"
		case c.Missing:
			missing += ", with a feature of their own"
		}
		t.AddTexts(c.Column, string(c.Kind), levels, missing)
	}
	var b strings.Builder
	b.WriteString(t.String())
	for _, names := range e.Interactions {
		fmt.Fprintf(&b, "interaction %s\n", strings.Join(names, ":"))
	}
	if e.Spellings != nil {
		fmt.Fprintf(&b, "missing, beside the usual: %s\n", strings.Join(e.Spellings, ", "))
	}
	if v := e.Event; v != nil {
		fmt.Fprintf(&b, "events: where %s is %s; censored: %s\n", v.Column, v.Value, strings.Join(v.Others, ", "))
	}
	if e.Labels != nil {
		fmt.Fprintf(&b, "labels: %s\n", strings.Join(e.Labels, ", then "))
	}
	return b.String()
}

// describeCoefficients lists those that are not zero.
func describeCoefficients(m *model.Model) string {
	fit, list := m.Fit(), effectsOf(m)
	var b strings.Builder
	if m.Matrix != nil {
		fmt.Fprintf(&b, "a matrix of %d x %d, which has the effects of the features in it\n", len(m.Matrix.RowEffects),
			len(m.Matrix.ColEffects))
	}
	if names := m.LabelTexts(); m.Classes() {
		b.WriteString("the label is that of the largest sum; the probabilities go with the exponentials of the sums\n")
		if m.Threshold != nil {
			fmt.Fprintf(&b, "but %s where its probability is above %s, and elsewhere the most probable of the others\n",
				names[len(names)-1], words.Number(*m.Threshold))
		}
	} else if names != nil && m.Threshold != nil {
		score := map[bool]string{true: "sum", false: "probability"}[m.Loss.Kind == model.Hinge]
		fmt.Fprintf(&b, "the label is %s where the %s is above %s, and %s elsewhere\n", names[1], score,
			words.Number(*m.Threshold), names[0])
	} else if names != nil {
		fmt.Fprintf(&b, "the label is %s where the sum is positive, and %s elsewhere\n", names[1], names[0])
	} else if m.Times() {
		b.WriteString("the sum is the logarithm of the hazard, beside that of a row of mean features\n")
		last := len(m.Baseline.Times) - 1
		fmt.Fprintf(&b, "without an event at the time %s: %s of such rows\n", words.Number(m.Baseline.Times[last]),
			words.Number(m.Baseline.Survival(0, m.Baseline.Times[last])))
	} else if m.LogLink {
		b.WriteString("the prediction is the exponential of the sum\n")
	}
	fmt.Fprintf(&b, "features with a coefficient: %d of %d\n", len(list), len(m.Features))
	heads := []string{"coefficient"}
	if m.Targets != nil {
		heads = m.Targets
	}
	t := webpage.NewTable("", "", webpage.Text("feature"))
	for _, head := range heads {
		t.Columns = append(t.Columns, webpage.Text(head))
	}
	if m.Deviations != nil {
		t.Columns = append(t.Columns, webpage.Text("effect of one standard deviation"))
	}
	line := func(name string, values []float64, more ...float64) {
		t.AddTexts(slices.Concat([]string{name}, words.Each(slices.Concat(values, more), words.Number))...)
	}
	for _, e := range list {
		effect := []float64{e.Size}
		if m.Deviations == nil {
			effect = nil
		} else if m.Targets == nil {
			effect[0] = math.Copysign(e.Size, e.Coefficient)
		}
		line(e.Feature, fit.Of(e.Index), effect...)
	}
	if m.Targets == nil {
		line("intercept", []float64{m.Intercept})
	} else {
		line("intercept", m.Intercepts)
	}
	b.WriteString(t.String())
	return b.String()
}
