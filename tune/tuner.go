package tune

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/conetune/conetune/internal/words"
)

// tuner is a method of selection.
type tuner struct {
	name string
	// check says why the method cannot do the task, before any work; nil if it can.
	check func(t *task) error
	// tune does the task. It tells [task.record] every lower-level solution that it looks at, and returns what
	// [task.finish] makes of them. The error is for what makes a run pointless; limits, cancellation and failed solves are
	// in the status of the result. Two runs of one task give the same but for times, whatever the number of workers.
	tune func(t *task, ctx context.Context) (*Result, error)
}

// The methods.
const (
	MethodVFiDCA  = "vf-idca"
	MethodVFiDCAT = "vf-idca-t"
	MethodGrid    = "grid"
	MethodRandom  = "random"
	MethodTPE     = "tpe"
	MethodTPE2    = "tpe2"
	MethodCMAES   = "cma-es"
	MethodIGJO    = "igjo"
	MethodIFDM    = "ifdm"
	MethodHOAG    = "hoag"
	MethodLDMMA   = "ldmma"
)

// tuners returns the methods, sorted.
func tuners() []tuner {
	return []tuner{
		{MethodCMAES, (*task).checkDefault, (*task).cmaes},
		{MethodGrid, (*task).checkGrid, (*task).grid},
		{MethodHOAG, (*task).checkDescent, (*task).descend},
		{MethodIFDM, (*task).checkDescent, (*task).descend},
		{MethodIGJO, (*task).checkDescent, (*task).descend},
		{MethodLDMMA, (*task).checkDefault, (*task).ldmma},
		{MethodRandom, (*task).checkDefault, (*task).random},
		{MethodTPE, (*task).checkDefault, (*task).treeParzen},
		{MethodTPE2, (*task).checkDefault, (*task).treeParzen},
		{MethodVFiDCA, (*task).checkInit, (*task).vfidca},
		{MethodVFiDCAT, (*task).checkInit, (*task).vfidca},
	}
}

// Methods returns the names of the methods, sorted.
func Methods() []string {
	return words.Each(tuners(), func(t tuner) string { return t.name })
}

// method returns the method of a name; the empty name means vf-idca.
func method(name string) (tuner, error) {
	name = cmp.Or(name, MethodVFiDCA)
	for _, t := range tuners() {
		if t.name == name {
			return t, nil
		}
	}
	return tuner{}, fmt.Errorf("tune: unknown method %q; known are: %s", name, strings.Join(Methods(), ", "))
}
