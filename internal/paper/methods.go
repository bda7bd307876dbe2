package paper

import (
	"fmt"

	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/tune"
)

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
}

// Methods are all methods in the order of the tables. All but [OurDefaults] and [GapClosed] have the paper's settings,
// search ranges and starts. HOAG is not in the paper; it is what a user of sparse models may pick today.
func Methods() []Method {
	return []Method{
		{Name: "grid", Title: "Grid", tuner: tune.MethodGrid, preset: tune.PresetPaper, conic: true},
		{Name: "random", Title: "Random", tuner: tune.MethodRandom, preset: tune.PresetPaper, conic: true},
		{Name: "tpe2", Title: "TPE2", tuner: tune.MethodTPE2, preset: tune.PresetPaper, conic: true},
		{Name: "tpe", Title: "TPE", tuner: tune.MethodTPE, preset: tune.PresetPaper, conic: true},
		{Name: "igjo", Title: "IGJO", tuner: tune.MethodIGJO, preset: tune.PresetPaper},
		{Name: "ifdm", Title: "IFDM", tuner: tune.MethodIFDM, preset: tune.PresetPaper},
		{Name: "hoag", Title: "HOAG", tuner: tune.MethodHOAG, preset: tune.PresetPaper},
		{Name: "vf-idca", Title: "VF-iDCA", tuner: tune.MethodVFiDCA, preset: tune.PresetPaper, conic: true},
		{Name: "vf-idca-t", Title: "VF-iDCA-t", tuner: tune.MethodVFiDCAT, preset: tune.PresetPaper, conic: true},
		{Name: OurDefaults, Title: "VF-iDCA (our defaults)", tuner: tune.MethodVFiDCA, conic: true},
		{Name: GapClosed, Title: "VF-iDCA (gap closed)", tuner: tune.MethodVFiDCA, conic: true},
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
func (m Method) dimension(model tune.Model) (int, error) {
	common := m.tuner == tune.MethodGrid || m.tuner == tune.MethodTPE2 || m.tuner == tune.MethodRandom && model.Name() == "svm"
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
