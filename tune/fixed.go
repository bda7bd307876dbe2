package tune

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/problems"
)

// Fixed values.
//
// What [Config.Fixed] names is no axis of a search: the others are searched beside its value, by methods that search a
// space, and by VF-iDCA, whose iterations have radii in the place of weights, along a path of one of them. Where
// nothing is left to search, the path is a point. Two weights lambda1 and lambda2 may be given as those of glmnet and
// scikit-learn,
//
//	lambda1 P_1 + lambda2 P_2 = lambda (l1_ratio P_1 + (1 - l1_ratio) P_2),
//
// and the axes of a search then are lambda and l1_ratio.

// leastMixing is the least l1_ratio that is searched.
const leastMixing = 1e-3

// mixed are the names of the weights that lambda and l1_ratio stand for, mixing these.
var mixed, mixing = []string{"lambda1", "lambda2"}, []string{"lambda", "l1_ratio"}

// mixes says that values are fixed of lambda and l1_ratio.
func (t *task) mixes() bool {
	_, lambda := t.Config.Fixed[mixing[0]]
	_, ratio := t.Config.Fixed[mixing[1]]
	return (lambda || ratio) && slices.Equal(t.Model.Names(), mixed)
}

// hold takes what is fixed out of the axes, and returns it by hyperparameter.
func (t *task) hold(axes []problems.Axis) (free []problems.Axis, held map[int]float64, err error) {
	if t.Config.Fixed == nil {
		return axes, nil, nil
	}
	each, err := t.axes(true)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := t.axes(false)
	if err != nil {
		return nil, nil, err
	}
	known := slices.Concat(each, kinds)
	held = make(map[int]float64)
	for _, name := range slices.Sorted(maps.Keys(t.Config.Fixed)) {
		k := slices.IndexFunc(known, func(a problems.Axis) bool { return a.Name == name })
		if k < 0 {
			has := listed(each)
			if slices.Equal(t.Model.Names(), mixed) {
				has += ", or in their place " + strings.Join(mixing, " and ")
			}
			return nil, nil, fmt.Errorf("tune: Config.Fixed: %s has no %s; it has %s", t.Model.Name(), name, has)
		}
		for _, j := range known[k].Members {
			if _, twice := held[j]; twice {
				return nil, nil, fmt.Errorf("tune: Config.Fixed: %s is there twice, by another name, too", name)
			}
			held[j] = t.Config.Fixed[name]
		}
	}
	for _, a := range axes {
		var members []int
		for _, j := range a.Members {
			if _, fixed := held[j]; !fixed {
				members = append(members, j)
			}
		}
		if a.Members = members; members != nil {
			free = append(free, a)
		}
	}
	return free, held, nil
}

// firstRung is the model of the first rung of a ladder, which needs no pilots, if all that is fixed are its weights;
// nil elsewhere.
func (t *task) firstRung(rungs []problems.Rung) problems.Model {
	if rungs == nil {
		return nil
	}
	models, err := rungs[0].Models(nil, nil, nil)
	if err != nil {
		return nil
	}
	names := models[0].Names()
	for name := range t.Config.Fixed {
		if !slices.Contains(names, name) {
			return nil
		}
	}
	return models[0]
}

// checkFixed says why the method cannot search beside what is fixed.
func (t *task) checkFixed() error {
	if t.Config.Fixed == nil {
		return nil
	}
	vf := t.tuner.name == MethodVFiDCA || t.tuner.name == MethodVFiDCAT
	if vf && (t.Config.asks() || t.Config.Rung != "") {
		return fmt.Errorf("tune: Config.Fixed goes without iterations of %s, and without what is for them: Config.Rung, "+
			"Config.MaxIter, a gap, a start, the paper's preset", t.tuner.name)
	}
	on := t
	if first := t.firstRung(rungs(t.Advice)); vf && first != nil {
		on = t.on(first)
	}
	free, err := on.checkSearch(ScopeCommon)
	searches := []string{MethodGrid, MethodRandom, MethodTPE, MethodCMAES}
	switch {
	case err == nil && len(free) == 0 && t.Config.OneSE:
		return fmt.Errorf("tune: one-se: nothing is left to choose, as all hyperparameters are fixed")
	case err != nil || len(free) == 0 || slices.Contains(searches, t.tuner.name) || t.tuner.name == MethodTPE2:
		return err
	case vf && len(free) == 1:
		return nil
	}
	return fmt.Errorf("tune: Config.Fixed: %s does not choose %s beside fixed values; %s do, or fix more", t.tuner.name,
		listed(free), strings.Join(searches, ", "))
}

// beside is the path of what is not fixed.
func (t *task) beside(ctx context.Context) (*paths, error) {
	s, err := t.space(ctx, ScopeCommon)
	if err != nil {
		return nil, err
	}
	p := &paths{space: s}
	if len(s.axes) == 0 {
		s.axes = []problems.Axis{{}}
		p.lines = [][][]float64{{{1}}}
		return p, nil
	}
	a := s.axes[0]
	p.gap, p.low = pathGap, a.Low
	if p.ends = a.Name != mixing[1] && t.Config.Ranges == nil; p.ends {
		p.low = pathLeast * a.High
		p.far = t.Advice.Rows > farRows*t.Advice.Features && !t.Advice.Separable
	}
	p.lines = [][][]float64{line(a.High, p.low, pathStep, 1, 1)}
	return p, nil
}

// given tells what is fixed.
func (c *Config) given() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.Fixed)) {
		list = append(list, fmt.Sprintf("%s %.4g", name, c.Fixed[name]))
	}
	if n := len(list); n > compassMost {
		list = []string{fmt.Sprint(n, " hyperparameters")}
	}
	return strings.Join(list, " and ") + " as given"
}

func (c *Config) validateFixed() error {
	for _, name := range slices.Sorted(maps.Keys(c.Fixed)) {
		v := c.Fixed[name]
		switch most := mostValue; {
		case name == mixing[1] && !(v >= 0 && v <= 1):
			return fmt.Errorf("tune: Config.Fixed: %s is %v, expected a number from 0 to 1", name, v)
		case !(v >= 0) || v > most || math.IsInf(v, 1):
			return fmt.Errorf("tune: Config.Fixed: %s is %v, expected a number from 0 to %v", name, v, most)
		}
	}
	return nil
}

// allFixed says that there is nothing to search.
func (t *task) allFixed() bool {
	free, err := t.checkSearch(ScopeCommon)
	return t.Config.Fixed != nil && err == nil && len(free) == 0
}
