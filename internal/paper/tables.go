package paper

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/conetune/conetune/internal/synthetic"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// Table is a table of the paper.
type Table struct {
	// Name is that in items and on the command line, Title that above the table.
	Name, Title string
	// Validation and Test say what the errors are.
	Validation, Test string
	// Methods are the names of those that can do the model, in the order of the table.
	Methods []string
	Rows    []Row
}

// Row is a data set of a table, on which each method has a line.
type Row struct {
	// Name is that in items, Title that in tables.
	Name, Title string

	files []string // names of the file, any of which will do; nil for data that are drawn
	data  data
	// adjust changes the paper's settings of a method where they differ from those on other rows; nil changes nothing.
	adjust func(*tune.Config)
}

// data draws or splits the data of a seed. The file is nil for data that are drawn.
type data func(file *dataset.Data, seed uint64) (build, error)

// build makes the model of data in memory. It is part of what is timed.
type build func() (problems.Model, error)

// Tables are all tables, in the order in which they are made.
func Tables() []Table {
	const mse, hinge, rate = "half the mean squared error", "mean hinge loss", "error rate"
	net := []string{"grid", "random", "tpe", "igjo", "ifdm", "hoag", "vf-idca", OurDefaults}
	grouped := []string{"grid", "random", "tpe", "igjo", "hoag", "vf-idca", OurDefaults, GapClosed}
	machine := []string{"grid", "random", "tpe2", "tpe", "vf-idca", "vf-idca-t", OurDefaults}
	return []Table{
		{
			Name: "en", Title: "Elastic net, synthetic data", Validation: mse, Test: mse, Methods: net,
			Rows: shaped("elastic-net", dataset.InSets.Presets()),
		},
		{
			Name: "sgl", Title: "Sparse group lasso, synthetic data", Validation: mse, Test: mse, Methods: grouped,
			Rows: shaped("sparse-group-lasso", dataset.InGroups.Presets()),
		},
		{
			Name: "mc", Title: "Low-rank matrix completion, synthetic data", Validation: mse, Test: mse, Methods: grouped,
			Rows: []Row{drawn("matrix-completion", "60-60", "60 x 60")},
		},
		{
			Name: "en-real", Title: "Elastic net, real data", Validation: mse, Test: mse, Methods: net,
			Rows: []Row{
				realNet("gisette", "50/50/rest", "gisette_scale", "gisette"),
				realNet("duke", "11/11/rest", "duke", "duke-breast-cancer"),
				realNet("sensit", "25/25/50", "sensit", "combined_scale", "combined"),
			},
		},
		{Name: "svm3", Title: "Support vector machine, 3 folds", Validation: hinge, Test: rate, Methods: machine,
			Rows: machines(3)},
		{Name: "svm6", Title: "Support vector machine, 6 folds", Validation: hinge, Test: rate, Methods: machine,
			Rows: machines(6)},
	}
}

// FindTable returns the table of a name.
func FindTable(name string) (Table, error) {
	return find("table", name, Tables(), func(t Table) string { return t.Name })
}

// row returns the row of a name.
func (t *Table) row(name string) (Row, error) {
	return find("row of table "+t.Name, name, t.Rows, func(r Row) string { return r.Name })
}

// drawn is a row of data that are drawn for a model, by the name of their sizes, see [synthetic.Draw].
func drawn(name, preset, title string) Row {
	return Row{Name: preset, Title: title, data: func(_ *dataset.Data, seed uint64) (build, error) {
		spec, err := model.Find(name)
		if err != nil {
			return nil, err
		}
		d, err := synthetic.Draw(spec, preset, seed)
		return func() (problems.Model, error) { return d.Model(false) }, err
	}}
}

// shaped are the rows of a model whose sizes have these names.
func shaped(name string, presets []string) (rows []Row) {
	for _, preset := range presets {
		rows = append(rows, drawn(name, preset, shape(preset)))
	}
	return rows
}

// shape spells a name such as 100-20-250-p250-m30 out.
func shape(preset string) string {
	parts := strings.Split(preset, "-")
	title := fmt.Sprintf("%s training, %s validation, %s test rows, p = %s", parts[0], parts[1], parts[2], parts[3][1:])
	if len(parts) > 4 {
		title += ", M = " + parts[4][1:]
	}
	return title
}

// realNet is a row of the elastic net on real data, divided at random. All searches look further than on drawn data,
// and IFDM does fewer steps (Supplement D of the paper).
func realNet(name, split string, files ...string) Row {
	adjust := func(c *tune.Config) {
		switch c.Method {
		case tune.MethodGrid, tune.MethodRandom, tune.MethodTPE:
			c.Ranges = []tune.Range{{Low: 1e-5, High: 1e2}}
		case tune.MethodIFDM:
			c.MaxIter = 10
		}
	}
	return Row{Name: name, Title: name + ", rows " + split, files: files, adjust: adjust, data: func(file *dataset.Data,
		seed uint64) (build, error) {
		s, err := dataset.SplitRows(file, split, seed)
		if err != nil {
			return nil, err
		}
		return func() (problems.Model, error) { return regression.ElasticNet(s, regression.Options{}) }, nil
	}}
}

// machines are the rows of the support vector machine. liver-disorders is the set of 145 rows and 5 features, as in the
// paper, not the older one of 345 rows.
func machines(folds int) []Row {
	var rows []Row
	for _, name := range []string{"liver-disorders", "diabetes", "breast-cancer", "sonar", "a1a", "w1a"} {
		rows = append(rows, Row{Name: name, Title: name, files: []string{name + "_scale", name},
			data: crossValidation(folds)})
	}
	return rows
}

// crossValidation splits T floor(N / 2T) rows into T folds, and takes the rest of the N rows for the test.
func crossValidation(folds int) data {
	return func(file *dataset.Data, seed uint64) (build, error) {
		n, _ := file.Dims()
		s, err := dataset.SplitRows(file, fmt.Sprintf("%d/rest", folds*(n/(2*folds))), seed)
		if err != nil {
			return nil, err
		}
		classes, err := dataset.ClassNumbers(s.Train, 2)
		if err != nil {
			return nil, err
		}
		cv, err := dataset.CrossValidate(s.Train, folds, seed, classes)
		if err != nil {
			return nil, err
		}
		cv.Test = s.Val // the second of two parts
		return func() (problems.Model, error) { return svm.New(cv, svm.Options{}) }, nil
	}
}

// Figure is a number of the paper with what stands behind its +-, which by its size is the standard deviation over 30
// repeats.
type Figure struct{ Mean, Spread float64 }

// String writes it with two decimals.
func (f Figure) String() string { return fmt.Sprintf("%.2f ± %.2f", f.Mean, f.Spread) }

// Published are the paper's figures of a method on a row: seconds on the machine of its authors, and the errors of the
// iterate.
type Published struct{ Seconds, Validation, Test Figure }

// Paper returns the paper's figures of a method on a row; false where it has none.
func Paper(table, row, method string) (Published, bool) {
	p, ok := published()[[3]string{table, row, method}]
	return p, ok
}

// tables of the paper: rows of the support vector machine are named without the ending _scale.
//
//go:embed published.csv
var tables string

// published reads them once.
var published = sync.OnceValue(func() map[[3]string]Published {
	lines, err := csv.NewReader(strings.NewReader(tables)).ReadAll()
	if err != nil {
		panic(err) // it is part of the program
	}
	out := make(map[[3]string]Published)
	for _, line := range lines[1:] {
		var p Published
		for k, to := range []*float64{
			&p.Seconds.Mean, &p.Seconds.Spread, &p.Validation.Mean, &p.Validation.Spread, &p.Test.Mean, &p.Test.Spread,
		} {
			if *to, err = strconv.ParseFloat(line[3+k], 64); err != nil {
				panic(err)
			}
		}
		out[[3]string(line[:3])] = p
	}
	return out
})

// OurDefaults is the name of VF-iDCA with the settings that this project recommends, in the place of the paper's.
const OurDefaults = "vf-idca-default"

// GapClosed is the name of VF-iDCA with our settings that goes on until the lower-level gap is closed, where our
// defaults stop earlier in favour of the prediction: it shows how well the bilevel program can be solved.
const GapClosed = "vf-idca-closed"

// The settings of [GapClosed].
const (
	closedGap        = 1e-4
	closedIterations = 12
)

// Method is a line of a row of a table.
type Method struct {
	// Name is that in items and on the command line, Title that in tables.
	Name, Title string

	tuner  string // name in package tune
	preset string
	conic  bool // the method solves conic programs, so that the backend matters
	style  int  // of its lines, the same in all figures; no table has two of the same
}

// Methods are all methods in the order of the tables. All but [OurDefaults] and [GapClosed] have the paper's settings,
// search ranges and starts. HOAG is not in the paper; it is what a user of sparse models may pick today.
func Methods() []Method {
	return []Method{
		{Name: "grid", Title: "Grid", tuner: tune.MethodGrid, preset: tune.PresetPaper, conic: true, style: 2},
		{Name: "random", Title: "Random", tuner: tune.MethodRandom, preset: tune.PresetPaper, conic: true, style: 3},
		{Name: "tpe2", Title: "TPE2", tuner: tune.MethodTPE2, preset: tune.PresetPaper, conic: true, style: 5},
		{Name: "tpe", Title: "TPE", tuner: tune.MethodTPE, preset: tune.PresetPaper, conic: true, style: 4},
		{Name: "igjo", Title: "IGJO", tuner: tune.MethodIGJO, preset: tune.PresetPaper, style: 5},
		{Name: "ifdm", Title: "IFDM", tuner: tune.MethodIFDM, preset: tune.PresetPaper, style: 6},
		{Name: "hoag", Title: "HOAG", tuner: tune.MethodHOAG, preset: tune.PresetPaper, style: 7},
		{Name: "vf-idca", Title: "VF-iDCA", tuner: tune.MethodVFiDCA, preset: tune.PresetPaper, conic: true},
		{Name: "vf-idca-t", Title: "VF-iDCA-t", tuner: tune.MethodVFiDCAT, preset: tune.PresetPaper, conic: true, style: 6},
		{Name: OurDefaults, Title: "VF-iDCA (our defaults)", tuner: tune.MethodVFiDCA, conic: true, style: 1},
		{Name: GapClosed, Title: "VF-iDCA (gap closed)", tuner: tune.MethodVFiDCA, conic: true, style: 6},
	}
}

// FindMethod returns the method of a name.
func FindMethod(name string) (Method, error) {
	return find("method", name, Methods(), func(m Method) string { return m.Name })
}

// find is the one of a list that has a name.
func find[T any](what, name string, list []T, nameOf func(T) string) (found T, err error) {
	var names []string
	for _, v := range list {
		if nameOf(v) == name {
			return v, nil
		}
		names = append(names, nameOf(v))
	}
	return found, fmt.Errorf("unknown %s %q; known are: %s", what, name, words.Joined(names))
}

// config is the configuration of an item: everything on one thread.
func (m Method) config(i Item, r Row) tune.Config {
	c := tune.Config{Method: m.tuner, Preset: m.preset, Backend: i.Backend, Seed: int64(i.Seed), Workers: 1, Threads: 1}
	if m.Name == GapClosed {
		c.GapTol, c.MaxIter = closedGap, closedIterations
	}
	if m.preset == tune.PresetPaper && r.adjust != nil {
		r.adjust(&c)
	}
	return c
}

// dimension is how many hyperparameters the method chooses: one for each kind where it gives all of a kind the same
// value, as the paper's random search does for the support vector machine alone.
func (m Method) dimension(model problems.Model) (int, error) {
	common := m.tuner == tune.MethodGrid || m.tuner == tune.MethodTPE2 || m.tuner == tune.MethodRandom &&
		model.Name() == "svm"
	p := model.Program()
	if !common {
		return len(p.H0), nil
	}
	if axes := model.Advice().Axes; axes != nil {
		return len(axes(false)), nil
	}
	kinds, err := p.Kinds()
	n := len(kinds)
	if p.Radii < len(p.H0) {
		n++ // the upper variables
	}
	return n, err
}
