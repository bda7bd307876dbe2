package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

const (
	// mostPoints bounds the points of a cloud on the page and of the ROC curve.
	mostPoints = 300
	// calibrationBins is how many bins of equal size the probabilities are in.
	calibrationBins = 10
	tallPanel       = 300 // height in points
)

// Statistics is what --plot draws, about the choice of the best method: the validation error and the coefficients over
// lambda, and below them the predictions as they are on the page, with the confusion table of a classifier, or the
// matrix. Where the weights have no curve, as those of a support vector machine and of a matrix, what the run had
// reached stands above.
func Statistics(run *Run) figure.Figure {
	r := evaluate.Best(run.Results)
	var f figure.Figure
	if c := CurveOf(r); c != nil {
		f = c.figure()
		f.Panels[0].YLabel = "validation: " + errorAxis(r)
		f.Title = fmt.Sprintf("%s for %s: error over lambda, with bars of one standard error", r.Model,
			run.Rows.Split.Train.Target)
		if p, c := pathsOf(run, r); p != nil {
			f.Panels = append(f.Panels, p.around(c))
		}
	} else if f = progressFigure(run); len(run.Results) == 1 && !searches(r.Method) {
		f.Panels = f.Panels[:1] // the others are about the method
	}
	f.Below = matrixFigure(r)
	if len(run.Results) > 1 && CurveOf(r) != nil {
		f.Below = append(f.Below, progressFigure(run))
	}
	if j := run.Judge.Of(r); j != nil && !j.Entries {
		for _, below := range predictionFigures(run, j, r.RefitFit) {
			below.Title += ", " + whereJudged[j.On]
			f.Below = append(f.Below, *below)
		}
		if r.RefitFit.Labels != nil {
			f.Below = append(f.Below, confusionFigure(run, j, r.RefitFit))
		}
	}
	return f
}

// matrixFigure shows a completed matrix; nil where there is none.
func matrixFigure(r *tune.Result) []figure.Figure {
	m := r.RefitFit.Matrix
	if r.Refit == nil || m == nil {
		return nil
	}
	rows, cols := m.Dims()
	return []figure.Figure{{Title: "completed matrix", XLabel: "column", PanelHeight: tallPanel, Panels: []figure.Panel{
		{YLabel: "row", Cells: &figure.Cells{Rows: rows, Cols: cols, At: m.At}},
	}}}
}

// whereJudged names the rows of predictions that were judged, in a few words.
var whereJudged = map[string]string{evaluate.OnTest: "test rows", evaluate.OnFolds: "by cross-validation",
	evaluate.OnValidation: "validation rows"}

// confusionFigure is the confusion table of a classifier.
func confusionFigure(run *Run, j *evaluate.Sample, fit problems.Fit) figure.Figure {
	names := words.Each(run.labels(fit), shortened)
	n, by := j.Confusion(len(names)), ""
	if j.Weight != nil {
		by = " by weight"
	}
	cells := &figure.Cells{Rows: len(names), Cols: len(names), RowNames: names, ColNames: names,
		At: func(i, k int) float64 { return n[i][k] }}
	return figure.Figure{
		Title: "confusion" + by + ", " + whereJudged[j.On], XLabel: "predicted label",
		PanelHeight: float64(100 + 20*len(names)),
		Panels:      []figure.Panel{{YLabel: "label", Cells: cells}},
	}
}

// predictionFigures are those that fit the model.
func predictionFigures(run *Run, j *evaluate.Sample, fit problems.Fit) (list []*figure.Figure) {
	switch names := run.labels(fit); {
	case fit.Classes() && j.Rule == nil: // the confusion table has it
	case fit.Hazard:
		list = append(list, risksOf(j))
	case fit.Labels == nil:
		list = append(list, residualsOf(j))
	default:
		last := j.Last()
		if names = []string{names[0], positive(run, j)}; fit.Classes() {
			names[0] = "others"
		}
		if run.Spec.Loss != model.Hinge {
			list = append(list, calibrationOf(last, names[1]))
		}
		if slices.Contains(last.Y, 0) && slices.Contains(last.Y, 1) {
			list = append(list, rocOf(last, names), precisionOf(last, names))
		}
	}
	return list
}

// roc returns the shares of other rows (x) and of rows of label 1 (y) whose value is above a threshold, for all
// thresholds, by the weights of the rows, nil for equal ones. There are rows of both.
func roc(value, label, weight []float64) (x, y []float64) {
	v, w, positive := slices.Clone(value), slices.Clone(weight), make([]bool, len(label))
	for i, l := range label {
		positive[i] = l == 1
	}
	stat.SortWeightedLabeled(v, positive, w)
	y, x, _ = stat.ROC(nil, v, positive, w)
	return x, y
}

// diagonal is a line to the eye.
func diagonal() figure.Line {
	return figure.Line{X: []float64{0, 1}, Y: []float64{0, 1}, Style: guideStyle}
}

// rocOf is the ROC curve of rows of both labels.
func rocOf(j *evaluate.Sample, names []string) *figure.Figure {
	x, y := roc(j.Value, j.Y, j.Weight)
	area := evaluate.ByName(j.Metrics)[evaluate.AUC].Value
	curve := figure.Line{Name: "model", X: webpage.Thinned(x, mostPoints), Y: webpage.Thinned(y, mostPoints)}
	n := j.Confusion(2)
	lines := append([]figure.Line{diagonal(), curve}, chosen(j, n[0][1]/(n[0][0]+n[0][1]), n[1][1]/(n[1][0]+n[1][1]))...)
	title := fmt.Sprintf("ROC curve, area %.3f", area)
	about := fmt.Sprintf("The share of %s that is found over the share of %s that is called %s, for all thresholds. The "+
		"diagonal is chance. The area below the curve is %.3f.", names[1], names[0], names[1], area)
	return &figure.Figure{ID: "roc", Title: title, Caption: title, About: about,
		XLabel: "share of " + names[0] + " called " + names[1], XFromZero: true, Start: begin(lines), PanelHeight: tallPanel,
		Panels: []figure.Panel{{YLabel: "share of " + names[1] + " found", Lines: lines}}}
}

// chosen is the point of the rows that are called positive by a rule, on a curve of all thresholds.
func chosen(j *evaluate.Sample, x, y float64) []figure.Line {
	if j.Rule == nil || !words.Finite(x+y) {
		return nil
	}
	return []figure.Line{{Name: "threshold", Points: true, X: []float64{x}, Y: []float64{y}, Style: 2}}
}

// begin is where the threshold is, 0 without one.
func begin(lines []figure.Line) float64 {
	if last := lines[len(lines)-1]; last.Points {
		return last.X[0]
	}
	return 0
}

// precision returns the share of positive rows that are found (x), and that of them among the rows called positive (y),
// from a ROC curve and their share of all.
func precision(others, found []float64, share float64) (x, y []float64) {
	for k := 1; k < len(found); k++ {
		if right := found[k] * share; found[k] > found[k-1] {
			x, y = append(x, found[k]), append(y, right/(right+others[k]*(1-share)))
		}
	}
	return x, y
}

// precisionOf is the precision over the recall of rows of both labels.
func precisionOf(j *evaluate.Sample, names []string) *figure.Figure {
	n, share := j.Confusion(2), stat.Mean(j.Y, j.Weight)
	others, found := roc(j.Value, j.Y, j.Weight)
	x, y := precision(others, found, share)
	chance := figure.Line{X: []float64{0, 1}, Y: []float64{share, share}, Style: guideStyle}
	curve := figure.Line{Name: "model", X: webpage.Thinned(x, mostPoints), Y: webpage.Thinned(y, mostPoints)}
	lines := append([]figure.Line{chance, curve}, chosen(j, n[1][1]/(n[1][0]+n[1][1]), n[1][1]/(n[0][1]+n[1][1]))...)
	about := fmt.Sprintf("The share of %s among the rows that are called %s, over the share of %s that is found, for all "+
		"thresholds. The level line is chance, %s; at the end all are found, with a share of %s.", names[1], names[1],
		names[1], words.Short(share), words.Short(y[len(y)-1]))
	return &figure.Figure{ID: "precision", Title: "precision over recall", Caption: "Precision over recall", About: about,
		XLabel: "share of " + names[1] + " found (recall)", XFromZero: true, Start: begin(lines), PanelHeight: tallPanel,
		Panels: []figure.Panel{{YLabel: "share of " + names[1] + " among called", Lines: lines}}}
}

// ordered are the places of values by their size, or by another order.
func ordered(values []float64, compare func(a, b float64) int) []int {
	order := indices.Range(0, len(values))
	slices.SortStableFunc(order, func(a, b int) int { return compare(values[a], values[b]) })
	return order
}

// residualsOf has targets and residuals over predictions.
func residualsOf(j *evaluate.Sample) *figure.Figure {
	order := ordered(j.Value, cmp.Compare)
	shown := webpage.Thinned(order, mostPoints)
	actual, residual := figure.Line{Name: "rows", Points: true}, figure.Line{Name: "residuals", Points: true}
	below := 0
	for _, i := range shown {
		f, y := j.Value[i], j.Y[i]
		actual.X, actual.Y = append(actual.X, f), append(actual.Y, y)
		residual.X, residual.Y = append(residual.X, f), append(residual.Y, y-f)
		if y < f {
			below++
		}
	}
	lo, hi := j.Value[order[0]], j.Value[order[len(order)-1]]
	caption := "Targets, and residuals (target minus prediction), over predictions"
	if len(shown) < len(order) {
		caption += fmt.Sprintf(": %d of %d, evenly", len(shown), len(order))
	}
	about := fmt.Sprintf("Predictions from %s to %s. Above, the targets, with the line on which they equal the "+
		"predictions; below, the residuals, with the line of 0. %d of %d targets are below their predictions.",
		words.Short(lo), words.Short(hi), below, len(shown))
	return &figure.Figure{ID: "residuals", Title: "targets and residuals over predictions", Caption: caption, About: about,
		XLabel: "prediction", PanelHeight: 220, Panels: []figure.Panel{
			{YLabel: "target", Lines: []figure.Line{actual, {X: []float64{lo, hi}, Y: []float64{lo, hi}, Style: 2}}},
			{YLabel: "residual", Lines: []figure.Line{residual, {X: []float64{lo, hi}, Y: []float64{0, 0}, Style: 2}}},
		}}
}

// calibrationOf has the share of the second label over its predicted probability, in bins of equal size.
func calibrationOf(j *evaluate.Sample, label string) *figure.Figure {
	order := ordered(j.Value, cmp.Compare)
	bins := min(calibrationBins, max(2, len(order)/10))
	line := figure.Line{Name: "share ± s.e."}
	for k := range bins {
		bin := order[k*len(order)/bins : (k+1)*len(order)/bins]
		if len(bin) == 0 {
			continue
		}
		n := float64(len(bin))
		weight := slices.Repeat([]float64{1 / n}, len(bin))
		if j.Weight != nil {
			weight = indices.Pick(j.Weight, bin)
			floats.Scale(1/floats.Sum(weight), weight)
		}
		p, share := 0.0, 0.0
		for at, i := range bin {
			p += weight[at] * evaluate.Probability(j.Value[i])
			share += weight[at] * j.Y[i]
		}
		line.X, line.Y, line.Error = append(line.X, p), append(line.Y, share),
			append(line.Error, math.Sqrt(share*(1-share)/n))
	}
	guide, last := diagonal(), len(line.X)-1
	if j.Metrics[0].Name != evaluate.ErrorRate { // up to where the probabilities of a rare label are
		end := max(slices.Max(line.X), slices.Max(line.Y))
		guide.X, guide.Y = []float64{0, end}, []float64{0, end}
	}
	caption := fmt.Sprintf("Calibration: share of %s over its predicted probability, in %d bins of equal size, with "+
		"bars of one standard error", label, len(line.X))
	about := fmt.Sprintf("In the lowest bin the mean probability is %s and the share %s, in the highest %s and %s. On "+
		"the diagonal they are equal.",
		words.Short(line.X[0]), words.Short(line.Y[0]), words.Short(line.X[last]), words.Short(line.Y[last]))
	return &figure.Figure{ID: "calibration", Title: "calibration", Caption: caption, About: about,
		XLabel: "predicted probability of " + label, XFromZero: true, PanelHeight: tallPanel,
		Panels: []figure.Panel{{YLabel: "share of " + label, Lines: []figure.Line{guide, line}}}}
}

// riskNames are the groups of rows of a figure, by their values.
var riskNames = []string{"low risk", "middle risk", "high risk"}

// risksOf has the shares of rows without an event over time, by thirds of the values among the rows of each part.
func risksOf(d *evaluate.Sample) *figure.Figure {
	groups, weights := make([][]float64, len(riskNames)), make([][]float64, len(riskNames))
	from := 0
	for _, to := range d.Ends {
		for k, i := range ordered(d.Value[from:to], cmp.Compare) {
			i += from
			g := k * len(groups) / (to - from)
			if groups[g] = append(groups[g], d.Y[i]); d.Weight != nil {
				weights[g] = append(weights[g], d.Weight[i])
			}
		}
		from = to
	}
	about := "The share of rows without an event over time, by thirds of the predicted hazards:"
	var lines []figure.Line
	for g, y := range groups {
		times, share := survival.KaplanMeier(y, weights[g])
		line := figure.Line{Name: riskNames[g], Style: g, Steps: true, X: []float64{0}, Y: []float64{1}}
		if len(times) > 0 && times[0] == 0 { // a time has one share, the one after it
			line.X, line.Y = nil, nil
		}
		line.X, line.Y = append(line.X, times...), append(line.Y, share...)
		lines = append(lines, line)
		about += fmt.Sprintf(" %s ends at %s;", line.Name, words.Short(line.Y[len(line.Y)-1]))
	}
	return &figure.Figure{ID: "risks", Title: "without an event, by thirds of the hazard",
		Caption: "Share of rows without an event over time (Kaplan and Meier), by thirds of the predicted hazards",
		About:   about[:len(about)-1] + ".", XLabel: "time", XFromZero: true, PanelHeight: tallPanel,
		Panels: []figure.Panel{{YLabel: "share without an event", Lines: lines}}}
}
