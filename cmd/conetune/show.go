package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table"
)

const showHelp = `Print a model that conetune tune --save wrote: what it predicts, how it was made, its errors, the
hyperparameters, how the columns of a table become features, and the coefficients that are not zero, in the units of the
table, those of the largest effect first.`

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show MODEL.json",
		Short:   "Print a saved model",
		Long:    showHelp,
		Example: "  conetune show model.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badInputf("expected one model file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.readModel(args[0])
			if err != nil {
				return badInput(err)
			}
			if asJSON {
				return a.printJSON(shownOf(m))
			}
			return a.print(describeModel(m))
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
	*toldCoefficients
	// Effects are those of one standard deviation of the features, without signs; a file may lack the deviations.
	Effects map[string]float64 `json:"effects,omitempty"`
}

// effectsOf lists the coefficients of a saved model by their effects, or by their sizes where the file lacks the deviations.
func effectsOf(m *model.Model) []model.Effect {
	return model.Effects(m.Fit(), model.Sizes(m.Fit(), m.Deviations))
}

// labelsOf are the texts of the labels.
func labelsOf(m *model.Model) (names []string) {
	if m.Encoding != nil && m.Encoding.Labels != nil {
		return m.Encoding.Labels
	}
	for _, v := range m.Labels {
		names = append(names, number(v))
	}
	return names
}

func shownOf(m *model.Model) shownModel {
	out := shownModel{
		Model: m.Model, Target: m.Target, Targets: m.Targets, Labels: labelsOf(m), Loss: m.Loss, ErrorUnit: unitOfModel(m),
		ValidationError: m.ValidationError, TestError: m.TestError, Hyperparameters: m.Hyperparameters,
		Features: len(m.Features), Encoding: m.Encoding, Provenance: m.Provenance, toldCoefficients: tellCoefficients(m.Fit()),
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
	spec, _ := findModel(m.Model) // as readModel has done
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
	fmt.Fprintf(&b, "made by     %s, %s on the %s backend: %s, seed %d\n", p.Program, p.Method, p.Backend, p.Status, p.Seed)
	fmt.Fprintf(&b, "trained on  %s\n", strings.Join(p.Files, ", "))
	rows := []string{fmt.Sprintf("%d training", p.TrainingRows)}
	if p.ValidationRows > 0 {
		rows = append(rows, fmt.Sprintf("%d validation", p.ValidationRows))
	}
	if p.TestRows > 0 {
		rows = append(rows, fmt.Sprintf("%d test", p.TestRows))
	}
	division := ""
	if p.Folds > 0 {
		division = fmt.Sprintf(", %d folds", p.Folds)
	}
	if p.Repeats > 1 {
		division += fmt.Sprintf(", %d repeats", p.Repeats)
	}
	if p.Division != "" {
		division += ", by " + p.Division
	}
	if p.Split != "" {
		division += ", split " + p.Split
	}
	if m.Weights != "" {
		division += ", weighed by " + m.Weights
	}
	if m.Offset != "" {
		division += ", offset " + m.Offset
	}
	fmt.Fprintf(&b, "            %s rows%s\n", strings.Join(rows, ", "), division)
	if l := m.Loss; l != nil {
		fmt.Fprintf(&b, "loss        %s\n", describeLoss(l))
	}
	fmt.Fprintf(&b, "error       %s: validation %s, test %s\n", unitOfModel(m), orDash(m.ValidationError), orDash(m.TestError))
	b.WriteString("\n" + describeChoice(m))
	if m.Encoding != nil {
		b.WriteString("\n" + describeEncoding(m.Encoding))
	}
	b.WriteString("\n" + describeCoefficients(m))
	return b.String()
}

func describeLoss(l *model.Loss) string {
	switch {
	case l.Ties != "":
		return l.Kind + ", " + l.Ties + " ties"
	case l.Threshold != 0:
		return l.Kind + ", linear beyond residuals of " + number(l.Threshold)
	case l.Level != 0:
		return l.Kind + ", level " + number(l.Level)
	case l.ClassWeights != nil:
		return fmt.Sprintf("%s, classes weighed %s and %s", l.Kind, number(l.ClassWeights[0]), number(l.ClassWeights[1]))
	}
	return l.Kind
}

// describeChoice lists the hyperparameters, the largest first where there are many.
func describeChoice(m *model.Model) string {
	spec, _ := findModel(m.Model) // as readModel has done
	t := newChoices()
	if lambda, l1, ok := mixed(m.Model, m.Hyperparameters["lambda1"], m.Hyperparameters["lambda2"]); ok {
		t.AddTexts("lambda", number(lambda), "weight of the penalty")
		t.AddTexts("l1_ratio", ratio(l1, 6), "share of the 1-norm in the penalty; alpha of glmnet")
		return t.String() + unitsOf(spec, m.Provenance.Standardize)
	}
	t = webpage.NewTable("", "", webpage.Text("hyperparameter"), webpage.Number("lambda"))
	names := slices.Sorted(maps.Keys(m.Hyperparameters))
	var values []float64
	for _, name := range names {
		values = append(values, m.Hyperparameters[name])
	}
	for _, i := range largestFirst(values) {
		t.AddTexts(names[i], number(values[i]))
	}
	t, rest := t.First(mostHyperparameters)
	text := t.String()
	if rest > 0 {
		text += fmt.Sprintf("and %d more that are smaller, see --json\n", rest)
	}
	return text + unitsOf(spec, m.Provenance.Standardize)
}

// mostLevels bounds the levels that are listed.
const mostLevels = 8

// describeEncoding says how columns become features.
func describeEncoding(e *table.Encoder) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprint(w, "column\tkind\tlevels, the reference first\tmissing values\n")
	for _, c := range e.Columns {
		levels := strings.Join(c.Levels[:min(len(c.Levels), mostLevels)], ", ")
		if rest := len(c.Levels) - mostLevels; rest > 0 {
			levels += fmt.Sprintf(" and %d more", rest)
		}
		missing := "become " + number(c.Fill)
		if c.Kind == table.Category {
			missing = "are the reference"
		}
		switch {
		case e.Rule == table.DropRows || e.Rule == table.Reject:
			missing = "none in training"
		case c.Missing && c.Kind == table.Category:
			missing = "are a level"
		case c.Missing:
			missing += ", with a feature of their own"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Column, c.Kind, levels, missing)
	}
	w.Flush()
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
	var b bytes.Buffer
	if m.Matrix != nil {
		fmt.Fprintf(&b, "a matrix of %d x %d, which has the effects of the features in it\n", len(m.Matrix.RowEffects), len(m.Matrix.ColEffects))
	}
	if names := labelsOf(m); m.Classes() {
		b.WriteString("the label is that of the largest sum; the probabilities go with the exponentials of the sums\n")
	} else if names != nil {
		fmt.Fprintf(&b, "the label is %s where the sum is positive, and %s elsewhere\n", names[1], names[0])
	} else if m.Times() {
		b.WriteString("the sum is the logarithm of the hazard, beside that of a row of mean features\n")
		last := len(m.Baseline.Times) - 1
		fmt.Fprintf(&b, "without an event at the time %s: %s of such rows\n", number(m.Baseline.Times[last]), number(m.Baseline.Survival(0, m.Baseline.Times[last])))
	} else if m.LogLink {
		b.WriteString("the prediction is the exponential of the sum\n")
	}
	fmt.Fprintf(&b, "features with a coefficient: %d of %d\n", len(list), len(m.Features))
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	head := []string{"feature", "coefficient"}
	if m.Targets != nil {
		head = append(head[:1], m.Targets...)
	}
	if m.Deviations != nil {
		head = append(head, "effect of one standard deviation")
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, e := range list {
		cells := []string{e.Feature}
		for _, v := range fit.Of(e.Index) {
			cells = append(cells, number(v))
		}
		switch {
		case m.Deviations == nil:
		case m.Targets != nil:
			cells = append(cells, number(e.Size))
		default:
			cells = append(cells, number(math.Copysign(e.Size, e.Coefficient)))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	last := []string{"intercept"}
	if m.Targets == nil {
		last = append(last, number(m.Intercept))
	}
	for _, v := range m.Intercepts {
		last = append(last, number(v))
	}
	fmt.Fprintln(w, strings.Join(last, "\t"))
	w.Flush()
	return b.String()
}
