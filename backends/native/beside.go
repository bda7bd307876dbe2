package native

import "github.com/conetune/conetune/internal/crew"

// beside is the affine direction, solved for by a second thread while the first solves for the constant part: the
// matrix is the same, and neither right-hand side waits for the solution of the other.
type beside struct {
	*iterate      // with rhsX, rhsZ, dx, dz of its own
	of       *kkt // whose factors k has
	ready    bool
	err      error
}

// besideWork is how many numbers a solve goes through at least where it is worth another thread.
const besideWork = 1 << 17

// kkt returns Newton systems with the factors of k, for solves beside its own: what a solve writes is theirs.
func (b *beside) kkt(k *kkt) *kkt {
	out, f := *k, *k.f
	f.stop = k.f.stop.Copy()
	out.f, out.mat.stop, out.factor, out.krylov, out.second = &f, f.stop, k.factor.Beside(f.stop), nil, true
	allocate(k.size, &out.rhs, &out.sol, &out.res, &out.best)
	return &out
}

// prepare says whether there is a second thread for solves with k, and gives it its vectors.
func (b *beside) prepare(it *iterate) bool {
	k := it.k
	if len(k.matrices) > 0 || it.f.threads < 2 || k.factor.Nonzeros()+len(k.mat.val) < besideWork {
		return false
	}
	const what = "the vectors of solves side by side"
	if b.of != k {
		if it.f.memory.take(what, 8*(6*int64(k.size)+2*int64(it.f.n+it.f.m))) != nil {
			return false
		}
		own := *it
		allocate(it.f.n, &own.rhsX, &own.dx)
		allocate(it.f.m, &own.rhsZ, &own.dz)
		other := b.kkt(k)
		own.k, own.f = other, other.f
		b.iterate, b.of = &own, k
	}
	other := b.iterate.k
	if k.krylov != nil && other.krylov == nil && !other.takeKrylov() {
		return false
	}
	*other.f.stop, other.wanting = *k.f.stop, false
	return true
}

// constantAndAffine is constantPart, beside which the affine direction is solved for where there is a thread.
func (e *embedding) constantAndAffine() error {
	b := &e.beside
	if b.ready = false; e.f.stop.Reached(0) || !b.prepare(e.iterate) {
		return e.constantPart()
	}
	e.affineTerm()
	var second crew.Crew
	second.Go(func() { b.err = b.newton(1, 1, e.target) })
	err := e.constantPart()
	second.Wait()
	e.f.stop.Look()
	b.ready = !b.iterate.k.wanting
	return err
}

// take gives the affine direction to it, false where there is none.
func (b *beside) take(it *iterate) (bool, error) {
	if !b.ready {
		return false, nil
	}
	b.ready = false
	copy(it.rhsX, b.rhsX)
	copy(it.rhsZ, b.rhsZ)
	copy(it.dx, b.dx)
	copy(it.dz, b.dz)
	return true, b.err
}
