package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/tune"
)

// describeMatrixData says what is known of the matrix.
func describeMatrixData(run *Run) string {
	d := run.Entries
	var b strings.Builder
	fmt.Fprintf(&b, "data      %s\n", run.From)
	sets := fmt.Sprintf("%d training, %d validation", len(d.Train), len(d.Val))
	if len(d.Test) > 0 {
		sets += fmt.Sprintf(", %d test", len(d.Test))
	}
	fmt.Fprintf(&b, "          matrix of %d x %d; %s entries\n", d.Rows, d.Cols, sets)
	for _, side := range []struct {
		name string
		f    *matcomp.Features
	}{{"row", &d.Row}, {"column", &d.Col}} {
		if side.f.X != nil {
			fmt.Fprintf(&b, "          %s in %s\n", words.Count(len(side.f.Names), side.name+" feature"), words.Count(side.f.Groups.Len(), "group"))
		}
	}
	prepared := []string{"values as they are", "no intercept"}
	if run.Options.Standardize {
		prepared[0] = "values standardised on the training entries, features on all rows and columns"
	}
	if run.Options.Intercept {
		prepared[1] = "with intercept"
	}
	fmt.Fprintf(&b, "          %s\n", strings.Join(prepared, ", "))
	return b.String()
}

// describeMatrix describes a completed matrix.
func describeMatrix(fit tune.Fit, intercept bool) string {
	m := fit.Matrix
	rows, cols := m.Dims()
	var b strings.Builder
	fmt.Fprintf(&b, "the completed matrix of %d x %d: a part of rank %d", rows, cols, m.Rank())
	used := model.Effects(fit, model.Sizes(fit, nil))
	if len(fit.Coefficients) > 0 {
		fmt.Fprintf(&b, " and %d of %d features", len(used), len(fit.Coefficients))
	}
	b.WriteString("\n")
	t := webpage.NewTable("", "", webpage.Text(""), webpage.Text(""))
	if k := m.Rank(); k > 0 {
		sizes := make([]string, min(k, MostHyperparameters))
		for i := range sizes {
			sizes[i] = words.Number(floats.Norm(mat.Col(nil, i, m.Left), 2) * floats.Norm(mat.Col(nil, i, m.Right), 2))
		}
		t.AddTexts("singular values", words.Joined(sizes))
	}
	if len(used) > 0 {
		t.AddTexts("feature", "coefficient")
	}
	for _, e := range used[:min(len(used), mostFeatures)] {
		t.AddTexts(e.Feature, words.Number(e.Coefficient))
	}
	if intercept {
		t.AddTexts("intercept", words.Number(fit.Intercept))
	}
	b.WriteString(t.String())
	if rest := len(used) - mostFeatures; rest > 0 {
		fmt.Fprintf(&b, "and %d more that are smaller\n", rest)
	}
	return b.String()
}
