package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// TestBadInput: each mistake gives exit status 2 and one line that says what is
// wrong, and leaves no trace in the file system.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	good := clitest.Write(t, dir, "good.csv", clitest.CsvText(1, 30, 4))
	lines := strings.SplitAfter(clitest.CsvText(1, 30, 4), "\n")
	with := func(name string, line int, text string) string {
		changed := append([]string(nil), lines...)
		changed[line-1] = text + "\n"
		return clitest.Write(t, dir, name, strings.Join(changed, ""))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "full"), 0o700))
	clitest.Write(t, dir, "full/x", "x")
	folder, full := filepath.Join(dir, "folder"), filepath.Join(dir, "full")
	missing := filepath.Join(dir, "missing.csv")
	empty := clitest.Write(t, dir, "empty.csv", "")
	header := clitest.Write(t, dir, "header.csv", lines[0])
	oneRow := clitest.Write(t, dir, "one.csv", lines[0]+lines[1])
	ragged := with("ragged.csv", 7, "1,2,3")
	word := with("word.csv", 9, "1,2,three,4,5")
	nan := with("nan.csv", 4, "1,2,3,NaN,5")
	inf := with("inf.csv", 4, "1,2,3,4,-inf")
	huge := with("huge.csv", 4, "1,2,3,4,1e999")
	fewer := clitest.Write(t, dir, "fewer.csv", clitest.CsvText(2, 10, 3))
	other := with("other.csv", 1, "y,f1,f2,g3,f4")
	badIndex := clitest.Write(t, dir, "bad.svm", "1 1:2 2:3\n-1 -1:1\n")
	good2 := clitest.Write(t, dir, "val.csv", clitest.CsvText(3, 30, 4))
	fewGroups := clitest.Write(t, dir, "groups.csv", "feature,group\nf1,0\nf2,0\nf3,1\n")
	noGroups := filepath.Join(dir, "bare")
	require.NoError(t, os.Mkdir(noGroups, 0o700))
	clitest.Write(t, dir, "bare/train.csv", clitest.CsvText(1, 30, 4))
	clitest.Write(t, dir, "bare/val.csv", clitest.CsvText(2, 30, 4))
	folds := func(name, lines string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(path, 0o700))
		clitest.Write(t, dir, name+"/data.csv", clitest.CsvText(1, 30, 4))
		clitest.Write(t, dir, name+"/folds.csv", "fold,row,role\n"+lines)
		return path
	}
	emptyFold := folds("emptyFold", "0,0,train\n0,1,train\n0,2,val\n1,0,train\n1,1,train\n")
	outsideFold := folds("outsideFold", "0,30,train\n")
	notModel := clitest.Write(t, dir, "not.json", "{}")
	saved := filepath.Join(dir, "saved.json")
	conetune(t, "tune", "elastic-net", "--data", good, "--save", saved).ok(t)
	out := filepath.Join(dir, "out")

	tune := func(args ...string) []string { return append([]string{"tune", "elastic-net"}, args...) }
	onGood := func(args ...string) []string { return tune(append([]string{"--data", good}, args...)...) }
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"missing file", tune("--data", missing), []string{missing}},
		{"directory as file", tune("--data", folder), []string{folder, "is a directory"}},
		{"empty file", tune("--data", empty), []string{empty, "empty"}},
		{"header only", tune("--data", header), []string{header}},
		{"ragged", tune("--data", ragged), []string{"ragged.csv:7", "5"}},
		{"text in a number column", tune("--data", word), []string{"word.csv:9", `"f2"`, "three"}},
		{"NaN", tune("--data", nan, "--missing", "error"), []string{"nan.csv:4", `"f3"`}},
		{"infinite", tune("--data", inf), []string{"inf.csv:4", `"f4"`}},
		{"overflow", tune("--data", huge), []string{"huge.csv:4", `"f4"`}},
		{"LIBSVM index -1", tune("--data", badIndex), []string{"bad.svm:2"}},
		{"one row", tune("--data", oneRow), []string{"one.csv", "2 folds, but there is 1 row for them"}},
		{"one row in parts", tune("--data", oneRow, "--split", threeParts), []string{"one.csv", "empty"}},
		{"one training row", tune("--train", oneRow, "--val", good), []string{"one.csv", "1 training row, expected at least 2"}},
		{"validation lacks a column", tune("--train", good, "--val", fewer), []string{"fewer.csv", `lacks column "f4"`}},
		{"validation has another column", tune("--train", good, "--val", other), []string{"other.csv", `"g3"`, `"f3"`}},
		{"test has another column", tune("--train", good, "--val", good2, "--test", other), []string{"other.csv", `"g3"`}},
		{"test has another column than data", tune("--data", good, "--test", fewer), []string{"fewer.csv", `"f4"`}},
		{"missing target", onGood("--target", "cost"), []string{`"cost"`, `"y", "f1"`}},
		{"missing directory", tune("--dir", filepath.Join(dir, "none")), []string{"none"}},
		{"directory without tables", tune("--dir", folder), []string{"train.csv"}},
		{"file as directory", tune("--dir", good), []string{good}},
		{"split too large", onGood("--split", "20/20/rest"), []string{"20/20/rest", "30"}},
		{"split is nonsense", onGood("--split", "half"), []string{`"half"`}},
		{"split and test file", onGood("--split", "10/10/rest", "--test", good2), []string{"--split", "--test"}},

		{"no data", tune(), []string{"no data: give --data"}},
		{"two forms of data", onGood("--train", good, "--val", good2), []string{"--data and --train contradict each other"}},
		{"training without validation", tune("--train", good), []string{"--train needs --val"}},
		{"validation without training", tune("--val", good), []string{"--val needs --train"}},
		{"validation with data", onGood("--val", good2), []string{"--val goes with --train"}},
		{"test with dir", tune("--dir", folder, "--test", good), []string{"--test goes with"}},
		{"split with train", tune("--train", good, "--val", good2, "--split", "1/1"), []string{"--split goes with --data"}},
		{"target with dir", tune("--dir", folder, "--target", "y"), []string{"--target goes with"}},
		{"one fold", onGood("--folds", "1"), []string{"--folds is 1, expected at least 2"}},
		{"more folds than rows", onGood("--folds", "24", "--split", "0.75/rest"), []string{"good.csv: 24 folds, but there are 23 rows"}},
		{"folds of divided tables", tune("--train", good, "--val", good2, "--folds", "3"), []string{"--train and --val", "cross-validation", "--folds T"}},
		{"folds of a folder", tune("--dir", noGroups, "--folds", "3"), []string{"--folds goes with --data"}},
		{"folds and final rows", onGood("--folds", "3", "--final", "train"), []string{"--final: with folds"}},
		{"folds in three parts", onGood("--folds", "3", "--split", "10/10/rest"), []string{"10/10/rest", "two parts"}},
		{"folds of one training row", onGood("--folds", "2", "--split", "2/rest"), []string{"good.csv: fold 0 has 1 training row, expected at least 2"}},
		{"folds without rows", tune("--dir", emptyFold), []string{"folds.csv", "fold 1 has no validation rows"}},
		{"folds of rows that are not there", tune("--dir", outsideFold), []string{"folds.csv:2", `"30"`, "from 0 to 29"}},
		{"empty name", tune("--data", ""), []string{"--data is empty"}},

		{"unknown model", []string{"tune", "perceptron", "--data", good}, []string{`"perceptron"`, "elastic-net, lasso"}},
		{"no model", []string{"tune", "--data", good}, []string{"elastic-net, lasso"}},
		{"unknown method", onGood("--method", "gird"), []string{`"gird"`, "known are: ", "vf-idca"}},
		{"second method unknown", onGood("--method", "vf-idca,gird"), []string{`"gird"`, "vf-idca"}},
		{"zero evaluations", onGood("--method", "grid", "--evaluations", "0"), []string{"--evaluations is 0", "positive"}},
		{"zero workers", onGood("--method", "grid", "--workers", "0"), []string{"--workers is 0"}},
		{"range upside down", onGood("--method", "random", "--range", "1:0.1"), []string{"upside down", "1 to 0.1"}},
		{"range not positive", onGood("--method", "random", "--range", "lambda1=0:1"), []string{"lambda1", "positive"}},
		{"range without bounds", onGood("--method", "random", "--range", "lambda1"), []string{`"lambda1"`, "LOW:HIGH"}},
		{"range of no axis", onGood("--method", "random", "--range", "lambda7=1:2"), []string{`"lambda7"`, "lambda1, lambda2"}},
		{"range twice", onGood("--method", "tpe", "--range", "1:2,1:3"), []string{"two ranges"}},
		{"scope", onGood("--method", "random", "--scope", "all"), []string{`"all"`, "common, each"}},
		{"grid too coarse", onGood("--method", "grid", "--evaluations", "3"), []string{"2 axes", "3 points"}},
		{"chain of one", onGood("--chain"), []string{"--chain", "several"}},
		{"method twice", onGood("--method", "vf-idca,vf-idca"), []string{"twice"}},
		{"unknown backend", onGood("--backend", "scss"), []string{`"scss"`, "native"}},
		{"unknown preset", onGood("--preset", "book"), []string{`"book"`, "paper"}},
		{"negative radius", onGood("--init", "10,-5"), []string{"--init", "radius 2", `"-5"`}},
		{"radius is text", onGood("--init", "ten"), []string{"--init", `"ten"`}},
		{"too many radii", onGood("--init", "1,2,3"), []string{"--init: 3 radii, but the model has 2"}},
		{"negative tolerance", onGood("--tol", "-0.1"), []string{"--tol is -0.1"}},
		{"zero tolerance", onGood("--tol", "0"), []string{"--tol is 0"}},
		{"tolerance is NaN", onGood("--tol", "NaN"), []string{"--tol is NaN"}},
		{"infinite tolerance", onGood("--tol", "inf"), []string{"--tol is +Inf"}},
		{"tolerance is text", onGood("--tol", "small"), []string{`--tol: "small" found, expected a number`}},
		{"negative gap tolerance", onGood("--gap-tol", "-1"), []string{"--gap-tol is -1"}},
		{"zero iterations", onGood("--max-iter", "0"), []string{"--max-iter is 0"}},
		{"negative time", onGood("--time-limit", "-1s"), []string{"--time-limit is -1s"}},
		{"time without unit", onGood("--time-limit", "10"), []string{`--time-limit: "10" found, expected a time with its unit`}},
		{"zero threads", onGood("--threads", "0"), []string{"--threads is 0"}},
		{"negative rho", onGood("--rho", "-1"), []string{"--rho is -1"}},
		{"rho beyond its bounds", onGood("--rho", "1e300"), []string{"--rho is 1e+300, expected a positive number, at most 1e+12"}},
		{"tolerance beyond its bounds", onGood("--tol", "1e9"), []string{"--tol is 1e+09, expected a positive number, at most 1"}},
		{"range beyond its bounds", onGood("--method", "grid", "--range", "1e-300:1e300"), []string{"--range", "1e-300:1e300", "expected numbers from 1e-30 to 1e+30"}},
		{"negative delta", onGood("--delta", "-1"), []string{"--delta is -1"}},
		{"negative c-alpha", onGood("--c-alpha", "-1"), []string{"--c-alpha is -1"}},
		{"negative epsilon", onGood("--epsilon", "-1"), []string{"--epsilon is -1"}},
		{"negative seed", onGood("--seed", "-1"), []string{`--seed: "-1" found, expected an integer that is not negative`}},
		{"huge seed", onGood("--seed", "18446744073709551615"), []string{"--seed is 18446744073709551615"}},
		{"unknown flag", onGood("--nonsense"), []string{"--nonsense"}},

		{"figure of unknown format", onGood("--plot", out+".pdf"), []string{"--plot", ".png or .svg"}},
		{"output in no folder", onGood("--save", filepath.Join(dir, "none", "m.json")), []string{"--save", "there is no directory"}},
		{"output is a folder", onGood("--trace", folder), []string{"--trace", "is a directory"}},
		{"output is the data", onGood("--save", good), []string{"--save", "would overwrite the data"}},
		{"two outputs in one", onGood("--save", out, "--trace", out), []string{"--save", "would overwrite the file of --trace"}},

		{"predict without model", []string{"predict", "--data", good}, []string{"--model FILE is missing"}},
		{"predict without data", []string{"predict", "--model", saved}, []string{"--data FILE is missing"}},
		{"predict with another file", []string{"predict", "--model", notModel, "--data", good}, []string{notModel, "not a model"}},
		{"predict with missing model", []string{"predict", "--model", missing, "--data", good}, []string{missing}},
		{"level of another model", onGood("--level", "0.9"), []string{"--level is not for elastic-net"}},
		{"level out of range", []string{"tune", "quantile", "--data", good, "--level", "1"}, []string{"--level is 1, expected a number between 0 and 1"}},
		{"threshold not positive", []string{"tune", "huber", "--data", good, "--threshold", "0"}, []string{"--threshold is 0, expected a positive number"}},
		{"order too high", []string{"tune", "fused-lasso", "--data", good, "--order", "4"}, []string{"differences of order 4 of 4 coefficients"}},
		{"order 0", []string{"tune", "fused-lasso", "--data", good, "--order", "0"}, []string{"--order is 0, expected at least 1"}},
		{"bounds without 0", []string{"tune", "bounded-elastic-net", "--data", good, "--lower", "1"}, []string{"--lower is 1, expected a number that is not positive"}},
		{"upper bound without 0", []string{"tune", "bounded-elastic-net", "--data", good, "--upper", "-1"}, []string{"--upper is -1, expected a number that is not negative"}},
		{"groups are missing", []string{"tune", "sparse-group-lasso", "--data", good}, []string{"--groups is missing"}},
		{"folder without groups", []string{"tune", "sparse-group-lasso", "--dir", noGroups}, []string{noGroups, "lacks groups.csv"}},
		{"groups for a model without", onGood("--groups", "2"), []string{"--groups is not for elastic-net"}},
		{"more groups than features", []string{"tune", "sparse-group-lasso", "--data", good, "--groups", "5"}, []string{"--groups: 5 groups of 4 features"}},
		{"groups of different sizes by number", []string{"tune", "sparse-group-lasso", "--data", good, "--groups", "3"}, []string{"--groups: 4 features cannot be divided into 3 groups"}},
		{"no such file of groups", []string{"tune", "sparse-group-lasso", "--data", good, "--groups", missing}, []string{missing, "no such file"}},
		{"groups miss a feature", []string{"tune", "sparse-group-lasso", "--data", good, "--groups", fewGroups}, []string{fewGroups, `lacks the group of "f4"`}},
		{"generate too few features in groups", []string{"generate", "sparse-group-lasso", "--preset", "9-9-9-p3-m1", "--out", out}, []string{"3 features in groups, expected at least 15"}},
		{"generate without number of groups", []string{"generate", "sparse-group-lasso", "--preset", "9-9-9-p30", "--out", out}, []string{`"9-9-9-p30"`, "-mGROUPS"}},
		{"generate nothing", []string{"generate", "elastic-net"}, []string{"--out DIR is missing"}},
		{"generate of unknown model", []string{"generate", "perceptron", "--out", out}, []string{`"perceptron"`}},
		{"generate unknown sizes", []string{"generate", "elastic-net", "--preset", "big", "--out", out}, []string{`"big"`, "100-20-250-p250"}},
		{"generate into a full folder", []string{"generate", "elastic-net", "--preset", "9-9-9-p3", "--out", full}, []string{full, "not empty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if args[0] == "tune" { // what must not appear
				for _, flag := range []string{"--trace", "--save", "--plot"} {
					if !strings.Contains(strings.Join(args, " "), flag) {
						args = append(args, flag, out+map[string]string{"--trace": ".jsonl", "--save": ".json", "--plot": ".png"}[flag])
					}
				}
			}
			before := contents(t, dir)
			o := conetune(t, args...)
			require.Equal(t, cli.ExitUsage, o.code, o.stderr)
			require.Empty(t, o.stdout)
			require.True(t, strings.HasPrefix(o.stderr, "conetune: "), o.stderr)
			require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
			for _, text := range c.want {
				require.Contains(t, o.stderr, text)
			}
			require.Equal(t, before, contents(t, dir), "something was written")
		})
	}
}

// TestBadInputOfModels: each mistake gives exit status 2 and one line that says where it is and what was expected, whatever the
// model, and for what single models take.
func TestBadInputOfModels(t *testing.T) {
	dir := t.TempDir()
	table := clitest.CsvText(1, 30, 4)
	kinds := labelled(1, 30, 4)
	lines := strings.SplitAfter(table, "\n")
	good, labels := clitest.Write(t, dir, "good.csv", table), clitest.Write(t, dir, "labels.csv", kinds)
	word := clitest.Write(t, dir, "word.csv", strings.Replace(table, lines[4], "1,2,three,4,5\n", 1))
	header := strings.SplitN(table, "\n", 2)[0]
	refuse := func(t *testing.T, args []string, want ...string) {
		t.Helper()
		before := contents(t, dir)
		o := conetune(t, args...)
		require.Equal(t, cli.ExitUsage, o.code, o.stderr)
		require.Empty(t, o.stdout)
		require.True(t, strings.HasPrefix(o.stderr, "conetune: "), o.stderr)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
		for _, text := range want {
			require.Contains(t, o.stderr, text)
		}
		require.Equal(t, before, contents(t, dir), "something was written")
	}
	for _, spec := range model.Specs() {
		if spec.Matrix || spec.Several {
			continue // matrix_test.go, targets_test.go
		}
		t.Run(spec.Name, func(t *testing.T) {
			rows := good
			if spec.Labels {
				rows = labels
			}
			tune := func(data string, args ...string) []string {
				args = append([]string{"tune", spec.Name, "--data", data, "--save", filepath.Join(dir, "m.json")}, args...)
				if spec.Takes("Groups") {
					args = append(args, "--groups", "2")
				}
				if spec.Survival {
					args = append(args, "--event", "none")
				}
				return args
			}
			refuse(t, tune(rows, "--target", "nothing"), filepath.Base(rows), `"nothing"`)
			refuse(t, tune(word), "word.csv:5", "column 3", "three")
			refuse(t, tune(filepath.Join(dir, "missing.csv")), "missing.csv", "no such file")
			refuse(t, tune(clitest.Write(t, dir, "header.csv", header+"\n")), "header.csv")
			refuse(t, tune(rows, "--folds", "25", "--split", "rest/6"), "25 folds", "24 rows")
			refuse(t, tune(rows, "--folds", "1"), "--folds is 1")
			refuse(t, tune(rows, "--folds", "two"), `--folds: "two" found, expected an integer`)
			refuse(t, []string{"tune", spec.Name}, "no data")
			if spec.Takes("Groups") {
				refuse(t, []string{"tune", spec.Name, "--data", good}, "--groups is missing")
			} else {
				refuse(t, tune(rows, "--groups", "2"), "--groups", "--groups is not for")
			}
		})
	}

	groups := func(name, text string) string { return clitest.Write(t, dir, name, "feature,group\n"+text) }
	overlap := groups("overlap.csv", "f1,0\nf2,0\nf2,1\nf3,1\nf4,1\n")
	missing := groups("few.csv", "f1,0\nf2,0\nf4,1\n")
	unknown := groups("unknown.csv", "f1,0\nf2,0\nf3,1\nf9,1\n")
	text := groups("text.csv", "f1,0\nf2,first\nf3,1\nf4,1\n")
	relabel := func(name string, label func(i int) string) string {
		changed := strings.Split(strings.TrimSpace(kinds), "\n")
		for i := 1; i < len(changed); i++ {
			changed[i] = label(i-1) + changed[i][strings.Index(changed[i], ","):]
		}
		return clitest.Write(t, dir, name, strings.Join(changed, "\n")+"\n")
	}
	one := relabel("one.csv", func(int) string { return "7" })
	three := relabel("three.csv", func(i int) string { return string(rune('1' + i%3)) })
	rare := relabel("rare.csv", func(i int) string { return string(rune('1' + min(i, 1))) })
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"groups that overlap", []string{"sparse-group-lasso", "--data", good, "--groups", overlap}, []string{"overlap.csv:4", `"f2"`}},
		{"groups that miss a feature", []string{"group-lasso", "--data", good, "--groups", missing}, []string{"few.csv", `lacks the group of "f3"`}},
		{"groups of a feature that is not there", []string{"group-lasso", "--data", good, "--groups", unknown}, []string{"unknown.csv:5", `"f9"`}},
		{"group that is no number", []string{"sparse-group-lasso", "--data", good, "--groups", text}, []string{"text.csv:3", `"first"`}},
		{"groups whose sizes do not fit", []string{"group-lasso", "--data", good, "--groups", "3"}, []string{"--groups: 4 features cannot be divided into 3 groups"}},
		{"no group", []string{"group-lasso", "--data", good, "--groups", "0"}, []string{"--groups", "0"}},
		{"labels of one class", []string{"logistic", "--data", one}, []string{`all rows have the label 7`, "expected two labels"}},
		{"labels of three classes", []string{"logistic", "--data", three}, []string{"has 3 values (1, 2, 3), expected two labels"}},
		{"number for a label", []string{"logistic", "--data", good, "--target", "f1"}, []string{"more than 4 values", "expected two labels"}},
		{"folds with one class", []string{"logistic", "--data", rare, "--folds", "5", "--split", "rest/1"}, []string{"rare.csv", "one row has the label 1"}},
		{"level 0", []string{"quantile", "--data", good, "--level", "0"}, []string{"--level is 0, expected a number between 0 and 1"}},
		{"level above 1", []string{"quantile", "--data", good, "--level", "1.5"}, []string{"--level is 1.5"}},
		{"level NaN", []string{"quantile", "--data", good, "--level", "nan"}, []string{"--level is NaN"}},
		{"threshold negative", []string{"huber", "--data", good, "--threshold", "-1"}, []string{"--threshold is -1, expected a positive number"}},
		{"threshold infinite", []string{"huber", "--data", good, "--threshold", "inf"}, []string{"--threshold is +Inf"}},
		{"threshold of another model", []string{"quantile", "--data", good, "--threshold", "1"}, []string{"--threshold is not for quantile"}},
		{"bounds upside down", []string{"bounded-elastic-net", "--data", good, "--lower", "-1", "--upper", "-2"}, []string{"--upper is -2, expected a number that is not negative"}},
		{"bound NaN", []string{"bounded-elastic-net", "--data", good, "--lower", "nan"}, []string{"--lower is NaN"}},
		{"differences of too high an order", []string{"fused-lasso", "--data", good, "--order", "7"}, []string{"differences of order 7 of 4 coefficients"}},
	} {
		t.Run(c.name, func(t *testing.T) { refuse(t, append([]string{"tune"}, c.args...), c.want...) })
	}
}

// A method along a hypergradient takes the models that the help names, and refuses the others with that list.
func TestModelsOfHypergradients(t *testing.T) {
	dir := t.TempDir()
	good, labels := clitest.Write(t, dir, "good.csv", clitest.CsvText(1, 30, 4)), clitest.Write(t, dir, "labels.csv", labelled(1, 30, 4))
	for method, others := range map[string][]string{tune.MethodIGJO: {"matrix-completion", "sparse-group-lasso"}, tune.MethodHOAG: {"matrix-completion", "sparse-group-lasso"}, tune.MethodIFDM: nil} {
		able := model.Able(method)
		require.ElementsMatch(t, append([]string{"adaptive-lasso", "bounded-elastic-net", "cox", "elastic-net", "lasso", "logistic", "poisson", "ridge", "svm", "weighted-lasso"}, others...), able)
		for _, spec := range model.Specs() {
			if spec.Matrix || spec.Several {
				continue // matrix_test.go, targets_test.go
			}
			args := []string{"tune", spec.Name, "--method", method, "--evaluations", "3", "--folds", "3", "--data", good}
			if spec.Labels {
				args[len(args)-1] = labels
			}
			if spec.Takes("Groups") {
				args = append(args, "--groups", "2")
			}
			if spec.Survival {
				args = append(args, "--event", "none")
			}
			o := conetune(t, args...)
			if slices.Contains(able, spec.Name) {
				o.ok(t)
				continue
			}
			require.Equal(t, cli.ExitUsage, o.code, o.stderr)
			require.Contains(t, o.stderr, method+" cannot do the model "+spec.Name)
			require.Contains(t, o.stderr, "which there is for "+strings.Join(able, ", "))
		}
	}
}
