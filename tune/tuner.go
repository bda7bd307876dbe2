package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Tuner is a method of selection. It has no state: one Tuner may run many tasks at once.
type Tuner interface {
	// Name is the name on the command line.
	Name() string
	// Check says why the method cannot do the task, before any work; nil if it can.
	Check(t *Task) error
	// Tune does the task. It tells [Task.Record] every lower-level solution that it looks at, and returns what
	// [Task.Finish] makes of them. The error is for what makes a run pointless; limits, cancellation
	// and failed solves are in the status of the result. Two runs of one task give the same but for times,
	// whatever the number of workers.
	Tune(ctx context.Context, t *Task) (*Result, error)
}

// The methods of this package.
const (
	MethodVFiDCA  = "vf-idca"
	MethodVFiDCAT = "vf-idca-t"
	MethodGrid    = "grid"
	MethodRandom  = "random"
	MethodTPE     = "tpe"
	MethodTPE2    = "tpe2"
	MethodCMAES   = "cma-es"
)

// earlyTol is the tolerance of [MethodVFiDCAT], which ends earlier than [MethodVFiDCA] on the same way (paper).
const earlyTol = 0.1

// tuners returns the methods, in any order.
func tuners() []Tuner {
	return append([]Tuner{
		vfidca{name: MethodVFiDCA},
		vfidca{name: MethodVFiDCAT, tol: earlyTol},
		grid{},
		random{},
		treeParzen{name: MethodTPE},
		treeParzen{name: MethodTPE2, common: true},
		cmaes{},
	}, hypergradientTuners()...)
}

// Methods returns the names of the methods, sorted.
func Methods() []string {
	var names []string
	for _, t := range tuners() {
		names = append(names, t.Name())
	}
	slices.Sort(names)
	return names
}

// Method returns the method of a name; the empty name means vf-idca.
func Method(name string) (Tuner, error) {
	if name == "" {
		name = MethodVFiDCA
	}
	for _, t := range tuners() {
		if t.Name() == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("tune: unknown method %q; known are: %s", name, strings.Join(Methods(), ", "))
}
