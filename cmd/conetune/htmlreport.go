package main

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

//go:embed htmlreport.html
var reportBody string

var reportPage = webpage.New("tune", reportBody)

// mostListed bounds the rows of the page's tables of coefficients and hyperparameters.
const mostListed = 40

// reportContents is what the body of the page is made of.
type reportContents struct {
	Lead                 string
	Verdict              []string
	Quality, Errors      *webpage.Table
	Choice               webpage.Table
	ChoiceNote           string
	Ladder               *webpage.Table
	Same                 []sameModel
	SameWhat             string
	Methods              *webpage.Table
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
	TraceNote            string
}

// sameModel is how another program names the model.
type sameModel struct{ Where, Code string }

// htmlReport writes the page of a run, about the choice of the best of its methods.
func htmlReport(w io.Writer, args []string, job *tuneJob, split *dataset.Split, results []*tune.Result) error {
	what := summarize(job, split, results)
	r, j := what.chosen, what.judged
	c := reportContents{
		Command: commandLine(args), Settings: string(job.settings), Lead: what.lead, Verdict: what.verdict, Quality: what.quality,
		Choice: what.choice.table, ChoiceNote: what.choice.note, Ladder: ladderTable(r), Same: what.choice.same, SameWhat: what.choice.what,
	}
	if j != nil {
		c.On = judgedOn(j)
	}
	if j == nil || j.Entries {
		c.Errors = errorsTable(job, results)
	}
	if len(results) > 1 {
		c.Methods = errorsTable(job, results)
		c.Errors = nil
	}
	var err error
	if c.Curve, err = onPage(curveDrawing(job, r)); err != nil {
		return err
	}
	if r.Refit != nil && job.entries == nil {
		var more int
		if c.Coefficients, c.CoefficientsNote, more = coefficientTable(job, r.RefitFit, j, mostListed); more > 0 {
			c.CoefficientsNote += fmt.Sprintf(" The %d largest are shown.", mostListed)
		}
		if c.Paths, err = onPage(pathDrawing(split, r)); err != nil {
			return err
		}
	}
	if j != nil {
		if c.Figures, err = onPage(predictionDrawings(job, j, r.RefitFit)...); err != nil {
			return err
		}
		if r.RefitFit.Labels != nil {
			c.Confusion = confusionTable(job, j, r.RefitFit)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(describeData(job, split)), "\n") {
		c.Data = append(c.Data, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "data ")))
	}
	for _, n := range job.rows.Notes {
		c.Findings = append(c.Findings, n.File+": "+strings.ReplaceAll(n.Text, "\n", " "))
	}
	c.Made = []string{"conetune " + r.Version, fmt.Sprintf("seed %d", r.Seed), madeBy(r), "the model is trained on " + trainedOn(job, split, r)}
	if c.Trace, err = onPage(traceDrawing(job, results)); err != nil {
		return err
	}
	c.TraceNote = "What the method had reached when. None of this is needed to use the model."
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

// judgedOn says which rows a predictor is judged by.
func judgedOn(j *evaluate.Judged) string {
	if j.Entries {
		text := "1 entry"
		if j.Rows != 1 {
			text = fmt.Sprintf("%d entries", j.Rows)
		}
		return onRows(text, j.On, "entries")
	}
	return onRows(count(j.Rows, "row"), j.On, "rows")
}

// onRows says which so many rows, or what they are, are.
func onRows(many, on, what string) string {
	switch on {
	case evaluate.OnTest:
		return many + " for the test, which were used for nothing else"
	case evaluate.OnFolds:
		return many + " of the cross-validation, each predicted by fits that were made without it"
	}
	return many + " for validation, predicted by the fit to the training " + what
}

// briefNames are measures of regressions in heads of narrow columns.
var briefNames = map[string]string{evaluate.R2: "R²", evaluate.RMSE: "RMSE", evaluate.MAE: "MAE"}

// targetsTable has the measures of several targets, a row for each; nil without.
func targetsTable(j *evaluate.JudgedTargets) *webpage.Table {
	if j == nil {
		return nil
	}
	t := &webpage.Table{ID: "quality", Caption: "How good it is on " + onRows(count(j.Rows, "row"), j.On, "rows"), Columns: []webpage.Column{{Title: "target"}}}
	for _, m := range j.List[0].Metrics {
		t.Columns = append(t.Columns, webpage.Column{Title: briefNames[m.Name], Number: true}, webpage.Column{Title: "s.e.", Spoken: "standard error of " + briefNames[m.Name], Number: true})
	}
	t.Columns = append(t.Columns, webpage.Column{Title: "RMSE without features", Number: true})
	for _, target := range j.List {
		cells := []webpage.Cell{{Text: target.Name}}
		base := math.NaN()
		for _, m := range target.Metrics {
			cells = append(cells, webpage.Cell{Text: fine(m.Value), Strong: true}, webpage.Cell{Text: short(m.StandardError)})
			if m.Name == evaluate.RMSE {
				base = m.Base
			}
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: append(cells, webpage.Cell{Text: fine(base)})})
	}
	return t
}

// measureNames are the measures in words.
var measureNames = map[string]string{
	evaluate.R2: "R², share of the variance explained", evaluate.RMSE: "root mean squared error", evaluate.MAE: "mean absolute error",
	evaluate.LogLoss: "log loss", evaluate.Brier: "Brier score", evaluate.AUC: "area under the ROC curve", evaluate.ErrorRate: "share of wrong labels",
	evaluate.DevianceExplained: "share of the deviance explained", evaluate.Deviance: "mean Poisson deviance",
	evaluate.Pinball: "mean pinball loss", evaluate.Coverage: "share of targets at or below the prediction",
	evaluate.Concordance: "concordance, share of pairs in the right order", evaluate.PartialDeviance: "partial-likelihood deviance for each event",
}

// without is what is predicted without any feature.
func without(job *tuneJob, j *evaluate.Judged) string {
	switch {
	case j.Entries:
		return "the mean of the training entries"
	case job.spec.Survival:
		return "rows that are all alike"
	case job.spec.Name == "quantile":
		return "the quantile of the training rows"
	case job.spec.Classes:
		return "the shares of the training rows"
	case job.spec.Labels && job.logOdds():
		return "the share of the training rows"
	case job.spec.Labels:
		return "the more frequent label"
	}
	return "the mean of the training rows"
}

// onLabel says what the effects of a classifier of two labels are effects on.
func onLabel(label string, logOdds bool) string {
	text := fmt.Sprintf(" The label is %s where features times coefficients and the intercept sum up to more than 0.", label)
	if logOdds {
		return text + fmt.Sprintf(" Effects are on the log odds of %s, which are that sum.", label)
	}
	return text + " Effects are on that sum."
}

// headline is the measure that a verdict is about.
func headline(list []evaluate.Metric) evaluate.Metric {
	m := list[len(list)-1]
	for _, name := range []string{evaluate.RMSE, evaluate.ErrorRate, evaluate.Pinball, evaluate.Deviance, evaluate.Concordance, evaluate.LogLoss} {
		if k := slices.IndexFunc(list, func(m evaluate.Metric) bool { return m.Name == name }); k >= 0 {
			m = list[k]
		}
	}
	return m
}

// verdict puts the measures into sentences.
func verdict(job *tuneJob, j *evaluate.Judged) []string {
	m := headline(j.Metrics)
	text := fmt.Sprintf("On %s: %s %s, against %s for %s", judgedOn(j), measureNames[m.Name], plusMinus(m.Value, m.StandardError), toError(m.Base, m.StandardError), without(job, j))
	switch change := 100 * (m.Value/m.Base - 1); {
	case m.Name == evaluate.Concordance && change <= 0:
		text += ". The features do not help on these rows."
	case m.Name == evaluate.Concordance:
		text += "; 1 is the best."
	case math.IsNaN(change) || math.IsInf(change, 0):
		text += "."
	case math.Abs(change) < 0.5:
		text += ": no better. The features do not help on these rows."
	case change < 0:
		text += fmt.Sprintf(": %.0f %% less.", -change)
	default:
		text += fmt.Sprintf(": %.0f %% more. The features do not help on these rows.", change)
	}
	switch {
	case j.Plain != nil:
		text += fmt.Sprintf(" %s has %s.", sentence(plainFit(j)), toError(m.Plain, m.StandardError))
	case j.WhyNotPlain != nil:
		text += fmt.Sprintf(" %s has no answer here: %s.", sentence(plainFit(j)), j.WhyNotPlain)
	}
	list := []string{text}
	if j.On != evaluate.OnTest {
		text := "The hyperparameters were chosen by these rows, so that new rows will be predicted a little worse"
		if job.outside == nil && job.data.CrossValidates() {
			text += " (--nested says how much)"
		}
		list = append(list, text+".")
	}
	return list
}

// sentence begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// plusMinus writes a value and its standard error, the value alone where there is none.
func plusMinus(v, se float64) string {
	if math.IsNaN(se) || math.IsInf(se, 0) {
		return toError(v, se)
	}
	return toError(v, se) + " ± " + toError(se, se)
}

// toError writes a value with as many decimals as a standard error has that is given with two digits. Values without one, and those
// that are very large or small, have four digits.
func toError(v, se float64) string {
	if !(se >= 1e-6) || !(math.Abs(v) < 1e7) || !(se < 1e7) {
		return fine(v)
	}
	return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(se)))), 64)
}

// short writes three significant digits.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// mostDecimals are those that tell a ratio from 0 and from 1.
const mostDecimals = 6

// ratio writes a number from 0 to 1 with so many decimals, or as many more as tell it from both, without zeros at the end.
func ratio(v float64, decimals int) string {
	text := func() string {
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', decimals, 64), "0"), ".")
	}
	for (text() == "0" || text() == "1") && decimals < mostDecimals {
		decimals += 2
	}
	return text()
}

// fine writes four, without an exponent for sizes of daily life.
func fine(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func qualityTable(job *tuneJob, j *evaluate.Judged) *webpage.Table {
	t := &webpage.Table{ID: "quality", Caption: "How good it is on these rows",
		Columns: []webpage.Column{{Title: "measure"}, {Title: "model", Number: true}, {Title: "standard error", Number: true}, {Title: "without features", Number: true}}}
	if j.Plain != nil {
		t.Columns = append(t.Columns, webpage.Column{Title: plainName(j), Number: true})
	}
	for _, m := range j.Metrics {
		name := measureNames[m.Name]
		if m.Name == evaluate.Coverage {
			name += fmt.Sprintf(" (%g is right)", job.model.Level)
		}
		cells := []webpage.Cell{{Text: name}, {Text: fine(m.Value), Strong: true}, {Text: errorOf(m)}, {Text: fine(m.Base)}}
		if j.Plain != nil {
			cells = append(cells, webpage.Cell{Text: fine(m.Plain)})
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: cells})
	}
	return t
}

// errorOf writes a standard error, 0 where it is the rounding of one.
func errorOf(m evaluate.Metric) string {
	if m.StandardError < 1e-12*math.Abs(m.Value) {
		return "0"
	}
	return short(m.StandardError)
}

// errorsTable has the errors of the refits, a row for each method.
func errorsTable(job *tuneJob, results []*tune.Result) *webpage.Table {
	unit := job.spec.Unit()
	t := &webpage.Table{ID: "errors", Caption: strings.ToUpper(unit[:1]) + unit[1:] + " by method", Sortable: len(results) > 1,
		Columns: []webpage.Column{{Title: "method"}, {Title: "validation", Number: true}, {Title: "test", Number: true}, {Title: "seconds", Number: true}}}
	chosen := evaluate.Best(results)
	if job.spec.Score != "" {
		t.Columns = append(t.Columns, webpage.Column{Title: job.spec.Score, Number: true})
	}
	for _, r := range results {
		cells := []webpage.Cell{{Text: r.Method}, {Text: "-", Key: new(string)}, {Text: "-", Key: new(string)}, {Text: short(r.TimeSeconds)}}
		switch {
		case job.spec.Score != "" && r.Score != nil:
			cells = append(cells, webpage.Cell{Text: number(*r.Score)})
		case job.spec.Score != "":
			cells = append(cells, webpage.Cell{Text: "-", Key: new(string)})
		}
		if r.Refit != nil {
			cells[1] = webpage.Cell{Text: number(r.Refit.Validation), Strong: r == chosen}
			if r.Refit.Test != nil {
				cells[2] = webpage.Cell{Text: number(*r.Refit.Test)}
			}
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: cells})
	}
	return t
}

// choice is what was chosen in words, as a table, and as other programs call it.
type choice struct {
	said, what string
	note       string // about all values of the table
	table      webpage.Table
	same       []sameModel
}

// mixing are the models with the penalty lambda1 |b|_1 + lambda2/2 |b|^2 = lambda (l1_ratio |b|_1 + (1 - l1_ratio)/2 |b|^2).
var mixing = []string{"elastic-net", "bounded-elastic-net", "huber", "quantile", "logistic", "multinomial", "poisson", "cox"}

// parametrised are lambda and l1_ratio of a result, in this parametrisation of glmnet and scikit-learn; ok is false for models that have none.
func parametrised(r *tune.Result) (lambda, l1 float64, ok bool) {
	switch {
	case r.Refit == nil || len(r.Lambda) == 0:
		return 0, 0, false
	case r.Model == "lasso":
		return r.Lambda[0], 1, true
	case r.Model == "ridge":
		return r.Lambda[0], 0, true
	case len(r.Lambda) == 2:
		return mixed(r.Model, r.Lambda[0], r.Lambda[1])
	}
	return 0, 0, false
}

// mixed are lambda and l1_ratio of the weights of a mixing model; ok is false for others, and where there is no penalty.
func mixed(model string, lambda1, lambda2 float64) (lambda, l1 float64, ok bool) {
	if lambda = lambda1 + lambda2; !slices.Contains(mixing, model) || !(lambda > 0) {
		return 0, 0, false
	}
	return lambda, lambda1 / lambda, true
}

func choiceOf(job *tuneJob, r *tune.Result) choice {
	c := choice{table: webpage.Table{ID: "chosen", Caption: "Hyperparameters", Columns: []webpage.Column{{Title: "name"}, {Title: "value", Number: true}, {Title: "meaning"}}}}
	add := func(name, value, meaning string) {
		c.table.Rows = append(c.table.Rows, webpage.Row{Cells: []webpage.Cell{{Text: name}, {Text: value, Strong: true}, {Text: meaning}}})
	}
	rows := "rows"
	if job.entries != nil {
		rows = "entries"
	}
	of := "of the fit to the training " + rows
	c.what = "The same fit to the training rows" // from which the final one on more rows differs a little
	if r.TrainedOn == tune.FinalTrain {
		c.what = "The same model"
	}
	whole := totalWeight(job.rows.Split.Train)
	if s := r.Selection; s != nil && s.Weighted && r.TrainedOn != tune.FinalTrain {
		of, c.what = "of the model", "The same model"
		whole += totalWeight(job.rows.Split.Val)
	}
	units := "on the features and the target as they are"
	if job.model.Standardize {
		units = "on standardised features and target"
		if job.spec.Labels || job.spec.LogLink || job.spec.Survival {
			units = "on standardised features"
		}
	}
	if len(r.Lambda) == 2 && slices.Contains(mixing, r.Model) && r.Lambda[0] == 0 && r.Lambda[1] == 0 {
		c.said = "no penalty"
		add("lambda", "0", "no penalty")
		return c
	}
	if lambda, l1, ok := parametrised(r); ok {
		c.said = "lambda " + short(lambda)
		add("lambda", fine(lambda), "weight of the penalty")
		c.note = "The weight is that " + of + ", " + units + "."
		if slices.Contains(mixing, r.Model) {
			c.said += ", l1_ratio " + ratio(l1, 3)
			add("l1_ratio", ratio(l1, 4), "share of the 1-norm in the penalty: 1 is the lasso, 0 ridge; alpha of glmnet")
		}
		c.same = sameAs(r.Model, lambda, l1, whole, job.data.Wanted.Weights != "", job.data.Wanted.Offset != "")
		return c
	}
	values := r.Lambda
	if r.Selection != nil {
		values = slices.Concat(values, r.Selection.Upper)
	}
	all := min(len(values), len(r.Names))
	shown := all
	if sameUpper(r) {
		shown = len(r.Lambda)
	}
	order := largestFirst(values[:shown])
	for _, i := range order[:min(len(order), mostListed)] {
		meaning := meaningOf(r.Model, r.Names[i])
		if i >= len(r.Lambda) {
			meaning = "largest size that the coefficient of the feature may have"
		}
		add(r.Names[i], fine(values[i]), meaning)
	}
	if len(order) > 0 {
		c.note = "The values are those " + of + ", " + units + "."
	}
	if rest := len(order) - mostListed; rest > 0 {
		add(count(rest, "more"), "", "all are in --json")
	}
	if len(order) < all {
		add(r.Names[len(order)]+" to "+r.Names[all-1], fine(r.Selection.Upper[0]), "largest size that a coefficient may have, the same for all")
	}
	if c.said = rungOf(r); c.said == "" {
		c.said = saidOf(r.Names, r.Lambda, all)
	}
	return c
}

// meaningOf says in words what a weight is that of.
func meaningOf(model, name string) string {
	switch {
	case model == "weighted-lasso":
		return "weight of the penalty on the coefficient of the feature"
	case model == "matrix-completion" && name == "nuclear":
		return "weight of the nuclear norm of the matrix"
	case model == "multi-task" && name == "lambda1":
		return "weight of the 2-norms of the coefficients of each feature"
	case name == "fusion":
		return "weight of the 1-norm of the differences of neighbouring coefficients"
	case model == "adaptive-lasso":
		return "weight of the 1-norm of the coefficients, each by its own weight"
	case name == "lambda1", name == "l1" && (model == "sparse-group-lasso" || model == "fused-lasso"):
		return "weight of the 1-norm of the coefficients"
	case model == "matrix-completion", model == "sparse-group-lasso", model == "group-lasso":
		return "weight of the 2-norm of the coefficients of the group"
	}
	return "weight of half the squared 2-norm of the coefficients"
}

// saidOf names up to three of n hyperparameters with their values, or says how many there are; those without lambda are bounds.
func saidOf(names []string, lambda []float64, n int) string {
	if n == 0 {
		return ""
	}
	if len(lambda) > n || len(lambda) > 3 {
		return count(n, "hyperparameter")
	}
	var parts []string
	for i, v := range lambda {
		parts = append(parts, names[i]+" "+short(v))
	}
	if bounds := n - len(lambda); bounds > 0 {
		parts = append(parts, count(bounds, "bound")+" of coefficients")
	}
	return strings.Join(parts, ", ")
}

// sameAs is the model in the words of scikit-learn and glmnet; n is the number of rows that it is trained on, or the sum of
// their weights w. In the place of an offset o, which scikit-learn lacks, it has targets less the offset where that is the same.
func sameAs(model string, lambda, l1, n float64, weights, offset bool) []sameModel {
	l, a := strconv.FormatFloat(lambda, 'g', 6, 64), ratio(l1, 6)
	learn, family := "", "gaussian"
	switch model {
	case "elastic-net":
		learn = "ElasticNet(alpha=" + l + ", l1_ratio=" + a + ")"
	case "lasso":
		learn = "Lasso(alpha=" + l + ")"
	case "ridge":
		learn = "Ridge(alpha=" + strconv.FormatFloat(lambda*n, 'g', 6, 64) + ")"
	case "logistic", "multinomial":
		learn = `LogisticRegression(penalty="elasticnet", solver="saga", C=` + strconv.FormatFloat(1/(lambda*n), 'g', 6, 64) + ", l1_ratio=" + a + ")"
		if family = model; model == "logistic" {
			family = "binomial"
		}
	case "poisson", "cox":
		family = model
	default:
		return nil
	}
	glmnet, y, w := `glmnet(x, y, family = "`+family+`", alpha = `+a+", lambda = "+l, "y", ""
	if weights {
		glmnet, w = glmnet+", weights = w", ", sample_weight=w"
	}
	if offset {
		glmnet, y = glmnet+", offset = o", "y - o"
	}
	if weights || offset {
		learn += ".fit(X, " + y + w + ")"
	}
	list := []sameModel{{"glmnet", glmnet + ", standardize = FALSE)"}}
	if family == "gaussian" || learn != "" && !offset && family != "poisson" && family != "cox" {
		list = append([]sameModel{{"scikit-learn", learn}}, list...)
	}
	return list
}

// plainName names the fit without penalty in the head of a column.
func plainName(j *evaluate.Judged) string {
	if j.LeastSquares() {
		return "least squares"
	}
	return "without penalty"
}

// plainFit names it in a sentence.
func plainFit(j *evaluate.Judged) string {
	if j.LeastSquares() {
		return "least squares, without a penalty,"
	}
	return "the fit without a penalty"
}
