package native

// newton is the linear algebra of an iteration: it solves
//
//	Px + A'z = rx,  Ax - Hz = rz
//
// with the H of the scaling that the cones have. kkt is for programs whose cones all stand in one sparse matrix, schur
// for those with semidefinite cones, which are eliminated where they can be.
type newton interface {
	// load takes the scaled numbers of P and A; false if they do not allow what is eliminated.
	load() bool
	// refactor factors at the current scaling.
	refactor()
	// solve solves to the accuracy asked for, or as far as it gets. The error says that the result is not finite, or
	// unfinished.
	solve(x, z, rx, rz []float64, to accuracy) error
	// lost says that the last solve was of no use.
	lost() bool
	// regularise sets the multiple of the usual regularisation, relax lowers one above it, raise factors again with more.
	regularise(boost float64)
	relax()
	raise()
	// withoutTerm takes out of a right-hand side what cones in their inverse form cannot stand there with, for withTerm to
	// put into dz.
	withoutTerm(rhsX, rhsZ, rz, d []float64, weight float64)
	withTerm(dz, d []float64)
	// whole says that some cone is eliminated, whose H has too few digits for differences from the iterate.
	whole() bool
}

var (
	_ newton = (*kkt)(nil)
	_ newton = (*schur)(nil)
)

// newNewton analyses the Newton systems of f. With keep, no column is eliminated.
func newNewton(f *form, cones []cone, starts []int, keep bool) (newton, error) {
	f.memory.taken -= f.kkt // of those that these replace
	before := f.memory.taken
	defer func() { f.kkt = f.memory.taken - before }()
	k := &kkt{f: f, cones: cones, starts: starts, xpos: make([]int32, f.n), pos: make([]int32, f.m)}
	for _, c := range cones {
		if d, ok := c.(diagonalCone); ok {
			k.h = d.diagonal()
		}
	}
	count := make([]int32, f.m)
	for _, i := range f.a.ind {
		if f.stop.Reached(1) {
			return nil, errStopped
		}
		count[i]++
	}
	if !keep {
		k.findSingles()
	}
	s := &schur{kkt: k}
	if s.chooseForms(keep); f.stop.Reached(4 * (f.n + f.m)) {
		return nil, errStopped
	}
	columns, err := k.number(count)
	for _, part := range []func() error{s.link, k.link, func() error { return k.pattern(count, columns) }, s.place,
		k.analyse} {
		if err == nil {
			err = part()
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(s.matrices) == 0:
		return k, nil
	}
	return s, nil
}
