package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// The scopes of a search say how many values it chooses.
const (
	// ScopeCommon is one value for all hyperparameters of a kind, see [dca.Program.Kinds].
	ScopeCommon = "common"
	// ScopeEach is one value for each hyperparameter.
	ScopeEach = "each"
)

// Range bounds an axis of a search.
type Range struct {
	// Axis is the name of an axis; empty means all that no other range names.
	Axis string
	// Low and High are values of the hyperparameter, not their logarithms, from 1e-100 to 1e100.
	Low, High float64
}

// Bounds of the values of a search, between which all steps of its logarithms are numbers.
const leastValue, mostValue = 1e-100, 1e100

func (r Range) validate() error {
	name := cmp.Or(r.Axis, "all axes")
	switch {
	case !(r.Low > 0) || !(r.High > 0) || math.IsInf(r.High, 1):
		return fmt.Errorf(
			"tune: range of %s is %v to %v, expected positive finite numbers: the search is on a logarithmic scale", name, r.Low,
			r.High)
	case r.Low > r.High:
		return fmt.Errorf("tune: range of %s is upside down, %v to %v: the smaller number comes first", name, r.Low, r.High)
	case r.Low < leastValue || r.High > mostValue:
		return fmt.Errorf("tune: range of %s is %v to %v, expected numbers from %v to %v", name, r.Low, r.High,
			float64(leastValue), float64(mostValue))
	}
	return nil
}

// space is what a search looks through: a box in the logarithms of the axes' values.
type space struct {
	axes  []problems.Axis
	radii int
	upper []float64       // upper variables where no axis has them
	held  map[int]float64 // hyperparameters that no axis has, as they are fixed
	mixes bool            // see [task.mixes]
}

// space works out where the method of the task searches.
func (t *task) space(ctx context.Context, scope string) (*space, error) {
	s, err := t.openSpace(scope)
	if err != nil {
		return nil, err
	}
	if err := t.bound(ctx, s.axes); err != nil {
		return nil, err
	}
	if err := s.check(len(t.Program.H0)); err != nil {
		return nil, fmt.Errorf("tune: %s: %w", t.Model.Name(), err)
	}
	if t.Start != nil {
		s.centre(slices.Concat(t.Start.Lambda, t.Start.Upper))
	}
	return s, nil
}

// openSpace has no bounds but those that the model gives.
func (t *task) openSpace(scope string) (*space, error) {
	axes, err := t.checkSearch(scope)
	if err != nil {
		return nil, err
	}
	s := &space{axes: axes, radii: t.Program.Radii, upper: slices.Clone(t.Program.H0[t.Program.Radii:]), mixes: t.mixes()}
	_, s.held, err = t.hold(nil)
	return s, err
}

// axes are the axes by kind, or one for each hyperparameter, without bounds where the model gives none.
func (t *task) axes(each bool) ([]problems.Axis, error) {
	if t.mixes() {
		return []problems.Axis{{Name: mixing[0], Members: []int{0}}, {Name: mixing[1], Members: []int{1}, Low: leastMixing,
			High: 1}}, nil
	}
	if of := t.Advice.Axes; of != nil {
		return slices.Clone(of(each)), nil
	}
	names, radii, n := t.Model.Names(), t.Program.Radii, len(t.Program.H0)
	name := func(j int) string {
		if j < len(names) {
			return names[j]
		}
		return fmt.Sprintf("u%d", j-radii+1)
	}
	kinds, err := t.Program.Kinds()
	if err != nil {
		return nil, err
	}
	if radii < n {
		kinds = append(kinds, indices.Range(radii, n))
	}
	var axes []problems.Axis
	for k, kind := range kinds {
		switch {
		case each:
			for _, j := range kind {
				axes = append(axes, problems.Axis{Name: name(j), Members: []int{j}})
			}
		case len(kind) == 1:
			axes = append(axes, problems.Axis{Name: name(kind[0]), Members: kind})
		default:
			axes = append(axes, problems.Axis{Name: kindName(k, kind, name, kind[0] >= radii), Members: kind})
		}
	}
	return axes, nil
}

// kindName is what the names of a kind have in common at their beginning, such as wbar of wbar_age and wbar_income.
// Where that is not much it is the number of the kind.
func kindName(k int, kind []int, name func(j int) string, upper bool) string {
	common := name(kind[0])
	for _, j := range kind[1:] {
		other := name(j)
		n := 0
		for n < min(len(common), len(other)) && common[n] == other[n] {
			n++
		}
		common = common[:n]
	}
	if i := strings.LastIndexAny(common, "_-. :"); i >= 0 {
		common = common[:i]
	}
	common = strings.TrimRight(common, "0123456789")
	switch {
	case len(common) > 1 && utf8.ValidString(common):
		return common
	case upper:
		return "u"
	}
	return fmt.Sprintf("lambda%d", k+1)
}

// ranges sorts the ranges of the user into that of all axes, nil without one, and those by name.
func (t *task) ranges(axes []problems.Axis) (general *Range, named map[string]Range, err error) {
	named = make(map[string]Range)
	for _, r := range t.Config.Ranges {
		_, twice := named[r.Axis]
		switch {
		case twice, r.Axis == "" && general != nil:
			return nil, nil, fmt.Errorf("tune: two ranges of %s", cmp.Or(r.Axis, "all axes"))
		case r.Axis == "":
			general = &r
		case !slices.ContainsFunc(axes, func(a problems.Axis) bool { return a.Name == r.Axis }):
			return nil, nil, fmt.Errorf("tune: range of %q: there is no such axis; known are: %s", r.Axis, listed(axes))
		default:
			named[r.Axis] = r
		}
	}
	return general, named, nil
}

// checkSearch says why the model cannot be searched by an axis for each hyperparameter or for each kind, as
// far as that is known before the work.
func (t *task) checkSearch(scope string) ([]problems.Axis, error) {
	axes, err := t.axes(cmp.Or(t.Config.Scope, scope) == ScopeEach)
	if err == nil {
		axes, _, err = t.hold(axes)
	}
	if err == nil {
		_, _, err = t.ranges(axes)
	}
	return axes, err
}

// bound fills in the bounds of the axes: the user's, the model's, the paper's, or those of the data.
func (t *task) bound(ctx context.Context, axes []problems.Axis) error {
	general, named, err := t.ranges(axes)
	if err != nil {
		return err
	}
	open := false
	for k := range axes {
		a := &axes[k]
		if r, ok := named[a.Name]; ok {
			a.Low, a.High = r.Low, r.High
		} else if general != nil {
			a.Low, a.High = general.Low, general.High
		} else if t.Config.Preset == PresetPaper && a.High == 0 {
			a.Low, a.High = t.paperRange(a.Members[0] >= t.Program.Radii)
		}
		open = open || a.High == 0
	}
	if !open {
		return nil
	}
	low, high, err := t.dataRanges(ctx)
	if err != nil {
		return err
	}
	for k := range axes {
		a := &axes[k]
		if a.High != 0 {
			continue
		}
		a.Low, a.High = math.Inf(1), 0
		for _, j := range a.Members {
			a.Low, a.High = math.Min(a.Low, low[j]), math.Max(a.High, high[j])
		}
		if ratio, fixed := t.Config.Fixed[mixing[1]]; fixed && a.Name == mixing[0] {
			a.High *= math.Min(1/ratio, lastFirst)
		}
	}
	return nil
}

// listed joins the names of the axes, the first few where there are many.
func listed(axes []problems.Axis) string {
	return first(words.Each(axes, func(a problems.Axis) string { return a.Name }))
}

// first joins names, the first few where there are many.
func first(names []string) string {
	const most = 12
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// check rejects axes that do not divide the hyperparameters among them.
func (s *space) check(n int) error {
	owner := make([]bool, n)
	for j := range s.held {
		owner[j] = true
	}
	for _, a := range s.axes {
		if !(a.Low > 0) || !(a.Low <= a.High) || math.IsInf(a.High, 1) || math.IsInf(a.High/a.Low, 1) {
			return fmt.Errorf("axis %s of the search goes from %v to %v, expected positive numbers in order, whose ratio is "+
				"finite; give a range", a.Name, a.Low, a.High)
		}
		if len(a.Members) == 0 {
			return fmt.Errorf("axis %s of the search has no hyperparameters", a.Name)
		}
		for _, j := range a.Members {
			if j < 0 || j >= n || owner[j] || (j < s.radii) != (a.Members[0] < s.radii) {
				return fmt.Errorf(
					"axis %s of the search has hyperparameter %d, which is another axis's, of another sort, or none of the %d", a.Name,
					j, n)
			}
			owner[j] = true
		}
	}
	if j := slices.Index(owner[:s.radii], false); j >= 0 {
		return fmt.Errorf("no axis of the search has hyperparameter %d", j)
	}
	return nil
}

// centre halves the box around the values h = (lambda, u) of an earlier selection, where they are positive. The box may
// leave the old one: what was selected may be outside.
func (s *space) centre(h []float64) {
	for k := range s.axes {
		a := &s.axes[k]
		sum, n := 0.0, 0
		for _, j := range a.Members {
			if j < len(h) && h[j] > 0 {
				sum += math.Log(h[j])
				n++
			}
		}
		if n == 0 {
			continue
		}
		half := math.Log(a.High/a.Low) / 4
		mid := sum / float64(n)
		a.Low, a.High = math.Exp(mid-half), math.Exp(mid+half)
	}
}

// values turns a point of the unit cube into one value for each axis.
func (s *space) values(unit []float64) []float64 {
	v := make([]float64, len(s.axes))
	for k, a := range s.axes {
		v[k] = a.Low * math.Pow(a.High/a.Low, unit[k])
	}
	return v
}

// hyper turns values into the weight of each radius, and the upper variables.
func (s *space) hyper(values []float64) (lambda, upper []float64) {
	h := slices.Concat(make([]float64, s.radii), s.upper)
	for j, v := range s.held {
		h[j] = v
	}
	for k, a := range s.axes {
		for _, j := range a.Members {
			h[j] = values[k]
		}
	}
	if lambda = h[:s.radii:s.radii]; s.mixes {
		sum, ratio := h[0], math.Min(h[1], 1)
		lambda[0], lambda[1] = sum*ratio, sum*(1-ratio)
	}
	if s.held != nil && len(lambda) > 0 && slices.Max(lambda) > 0 {
		lambda = lower.Positive(lambda)
	}
	if len(s.upper) > 0 {
		upper = h[s.radii:]
	}
	return lambda, upper
}

// point are the values of the axes at hyperparameters.
func (s *space) point(lambda, upper []float64) (values []float64) {
	h := slices.Concat(lambda, upper)
	if s.mixes {
		h[0], h[1] = h[0]+h[1], h[0]/(h[0]+h[1])
	}
	for _, a := range s.axes {
		values = append(values, h[a.Members[0]])
	}
	return values
}
