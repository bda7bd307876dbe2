package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// choice is what was chosen in words, as a table, and as other programs call it.
type choice struct {
	said  string
	Note  string // about all values of the table
	Table *webpage.Table
	What  string // is the same elsewhere
	Same  []sameModel
}

// sameModel is how another program names the model.
type sameModel struct{ Where, Code string }

// mixing are the models with the penalty lambda1 |b|_1 + lambda2/2 |b|^2 = lambda (l1_ratio |b|_1 + (1 - l1_ratio)/2
// |b|^2).
var mixing = []string{"elastic-net", "bounded-elastic-net", "huber", "quantile", "logistic", "multinomial", "poisson",
	"cox"}

// parametrised are lambda and l1_ratio of the weights of a model, in this parametrisation of glmnet and scikit-learn;
// ok is false for models that have none.
func parametrised(model string, weights []float64) (lambda, l1 float64, ok bool) {
	switch {
	case len(weights) == 0:
		return 0, 0, false
	case model == "lasso":
		return weights[0], 1, true
	case model == "ridge":
		return weights[0], 0, true
	case len(weights) == 2:
		return Mixed(model, weights[0], weights[1])
	}
	return 0, 0, false
}

// Mixed are lambda and l1_ratio of the weights of a mixing model; ok is false for others, and where there is no
// penalty.
func Mixed(model string, lambda1, lambda2 float64) (lambda, l1 float64, ok bool) {
	if lambda = lambda1 + lambda2; !slices.Contains(mixing, model) || !(lambda > 0) {
		return 0, 0, false
	}
	return lambda, lambda1 / lambda, true
}

// NewChoices is a table of hyperparameters.
func NewChoices() *webpage.Table {
	return webpage.NewTable("chosen", "Hyperparameters", webpage.Text("name"), webpage.Number("value"),
		webpage.Text("meaning"))
}

func choiceOf(run *Run, r *tune.Result) choice {
	c := choice{Table: NewChoices()}
	add := func(name, value, meaning string) {
		c.Table.Add(webpage.Cell{Text: name}, webpage.Cell{Text: value, Strong: true}, webpage.Cell{Text: meaning})
	}
	rows := "rows"
	if run.Entries != nil {
		rows = "entries"
	}
	of := "of the fit to the training " + rows
	c.What = "The same fit to the training rows" // from which the final one on more rows differs a little
	if r.TrainedOn == tune.FinalTrain {
		c.What = "The same model"
	}
	fitted, classes, _ := run.Options.Weighed(run.Rows) // without an error, as the model was built of them
	whole := floats.Sum(fitted.Table().RowWeights())
	if s := r.Selection; s != nil && s.Weighted && r.TrainedOn != tune.FinalTrain {
		of, c.What = "of the model", "The same model"
		if s, ok := fitted.(*dataset.Split); ok {
			whole += floats.Sum(s.Val.RowWeights())
		}
	}
	units := "on the features and the target as they are"
	if run.Options.Standardize {
		units = "on " + standardised(run.Spec)
	}
	if len(r.Lambda) == 2 && slices.Contains(mixing, r.Model) && r.Lambda[0] == 0 && r.Lambda[1] == 0 {
		c.said = "no penalty"
		add("lambda", "0", "no penalty")
		return c
	}
	if lambda, l1, ok := parametrised(r.Model, r.Lambda); ok {
		c.said = "lambda " + words.Short(lambda)
		add("lambda", words.Fine(lambda), "weight of the penalty")
		c.Note = "The weight is that " + of + ", " + units + "."
		if slices.Contains(mixing, r.Model) {
			c.said += ", l1_ratio " + words.Ratio(l1, 3)
			add("l1_ratio", words.Ratio(l1, 4), "share of the 1-norm in the penalty: 1 is the lasso, 0 ridge; alpha of glmnet")
		}
		c.Same = sameAs(r.Model, lambda, l1, whole, classes != nil || run.Source.Wanted.Weights != "",
			run.Source.Wanted.Offset != "")
		return c
	}
	values := r.Lambda
	if r.Selection != nil {
		values = slices.Concat(values, r.Selection.Upper)
	}
	all := min(len(values), len(r.Names))
	weights := min(all, len(r.Lambda))
	order := largestFirst(values[:weights])
	if !sameUpper(r) {
		for _, i := range largestFirst(values[weights:all]) {
			order = append(order, weights+i)
		}
	}
	for _, i := range order {
		meaning := meaningOf(r.Model, r.Names[i])
		if i >= weights {
			meaning = "largest size that the coefficient of the feature may have"
		}
		add(r.Names[i], words.Fine(values[i]), meaning)
	}
	if len(order) > 0 {
		c.Note = "The values are those " + of + ", " + units + "."
	}
	if len(order) < all {
		add(r.Names[len(order)]+" to "+r.Names[all-1], words.Fine(r.Selection.Upper[0]),
			"largest size that a coefficient may have, the same for all")
	}
	if c.said = rungOf(r); c.said == "" {
		c.said = saidOf(r.Names, r.Lambda, all)
	}
	if r.Loss == svm.SquaredHinge && len(r.Ladder) > 0 && r.Ladder[0].Taken { // without bounds
		c.Same = sameAs(r.Model, r.Lambda[0], 0, whole, classes != nil || run.Source.Wanted.Weights != "", false)
	}
	return c
}

// largestFirst are the places of values, in their order, or the largest first where there are many.
func largestFirst(values []float64) []int {
	return ordered(values, func(a, b float64) int {
		if len(values) <= MostHyperparameters {
			return 0
		}
		return cmp.Compare(b, a)
	})
}

// sameUpper says that there are several hyperparameters that are no radii, all with one value.
func sameUpper(r *tune.Result) bool {
	if r.Selection == nil || len(r.Selection.Upper) < 2 || len(r.Names) != len(r.Radii)+len(r.Selection.Upper) {
		return false
	}
	return len(slices.Compact(slices.Clone(r.Selection.Upper))) == 1
}

// meaningOf says in words what a weight is that of.
func meaningOf(model, name string) string {
	switch {
	case strings.HasPrefix(model, "weighted-"):
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

// saidOf names up to three of n hyperparameters with their values, or says how many there are; those without lambda are
// bounds.
func saidOf(names []string, lambda []float64, n int) string {
	if len(lambda) > n || len(lambda) > 3 {
		return words.Count(n, "hyperparameter")
	}
	var parts []string
	for i, v := range lambda {
		parts = append(parts, names[i]+" "+words.Short(v))
	}
	if bounds := n - len(lambda); bounds > 0 {
		parts = append(parts, words.Count(bounds, "bound")+" of coefficients")
	}
	return words.Joined(parts)
}

// rungOf says which rung of a ladder was taken; empty without.
func rungOf(r *tune.Result) string {
	if k := slices.IndexFunc(r.Ladder, func(r tune.Rung) bool { return r.Taken }); k >= 0 {
		said := words.Count(len(r.Lambda), "weight") + " on the rung " + r.Ladder[k].Name
		if r.Loss != "" {
			said += ", by the " + strings.ReplaceAll(r.Loss, "-", " ")
		}
		return said
	}
	return ""
}

// ladderTable are the rungs of a ladder; nil without.
func ladderTable(r *tune.Result) *webpage.Table {
	if len(r.Ladder) == 0 {
		return nil
	}
	t := webpage.NewTable("ladder", "Rungs, the simplest first", webpage.Text("rung"), webpage.Number("validation error"),
		webpage.Number("above the least"), webpage.Number("standard error"), webpage.Number("features"),
		webpage.Text("taken"))
	for _, rung := range r.Ladder {
		taken := ""
		if rung.Taken {
			taken = "yes"
		}
		t.AddTexts(rung.Name, words.Number(rung.Validation), words.Short(rung.Above), words.Short(rung.StandardError),
			fmt.Sprintf("%.1f", rung.Features), taken)
	}
	return t
}

// sameAs is the model in the words of scikit-learn and glmnet, svm with the squared hinge; n is the number of rows that
// it is trained on, or the sum of their weights w. In place of an offset o, which scikit-learn lacks, it has targets
// less the offset where that is the same.
func sameAs(model string, lambda, l1, n float64, weights, offset bool) []sameModel {
	digits := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	l, a := digits(lambda), words.Ratio(l1, 6)
	const exactly = ", tol=1e-8, max_iter=100000)" // of scikit-learn 1.8 and later
	learn, family := "", "gaussian"
	if model == "elastic-net" && l1 == 0 { // of which ElasticNet warns
		model = "ridge"
	}
	switch model {
	case "elastic-net":
		learn = "ElasticNet(alpha=" + l + ", l1_ratio=" + a + exactly
	case "lasso":
		learn = "Lasso(alpha=" + l + exactly
	case "ridge":
		learn = "Ridge(alpha=" + digits(lambda*n) + ")"
	case "logistic", "multinomial":
		learn = "LogisticRegression(C=" + digits(1/(lambda*n)) + ", l1_ratio=" + a + `, solver="saga"` + exactly
		if family = model; model == "logistic" {
			family = "binomial"
		}
	case "poisson", "cox":
		family = model
	case "svm":
		family = ""
		learn = "LinearSVC(C=" + digits(1/(lambda*n)) + `, loss="squared_hinge", dual=False, intercept_scaling=1e5` + exactly
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
	list := []sameModel{{"glmnet", glmnet + ", standardize = FALSE)"}}
	if family == "" {
		list = nil
	}
	if learn == "" || offset && family != "gaussian" {
		return list
	}
	if weights || offset {
		learn += ".fit(X, " + y + w + ")"
	}
	return append([]sameModel{{"scikit-learn", learn}}, list...)
}

// describe lists the hyperparameters with the same model elsewhere.
func (c choice) describe() string {
	var b strings.Builder
	shown, rest := c.Table.First(MostHyperparameters)
	b.WriteString(shown.String() + words.Rest(rest, "and %d more, see --json\n"))
	if c.Note != "" {
		b.WriteString(words.Wrapped(c.Note))
	}
	if c.Same != nil {
		fmt.Fprintf(&b, "%s elsewhere:\n", c.What)
		for _, s := range c.Same {
			fmt.Fprintf(&b, "  %s\n", s.Code)
		}
	}
	return b.String()
}
