// Package misuse tries the functions of packages with wrong arguments, and says which have no example.
package misuse

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
)

// tryAll calls every function of a package, and every method of the receivers, with arguments that are zero and, one at
// a time, with those of wrong that fit. It fails where a call panics without a message that begins with the name of the
// package, and where functions lacks one that it exports.
func tryAll(t *testing.T, name string, functions map[string]any, receivers, wrong []any) {
	prefix, folder := name+": ", filepath.Join("..", "..", name)
	try := func(name string, f reflect.Value) {
		for _, args := range combinations(f.Type(), wrong) {
			call(t, prefix, name, f, args)
		}
	}
	for name, f := range functions {
		try(name, reflect.ValueOf(f))
	}
	for _, on := range receivers {
		v := reflect.ValueOf(on)
		for _, last := range []bool{false, true} { // after Close the others do nothing
			for i := range v.NumMethod() {
				if name := v.Type().Method(i).Name; last == (name == "Close") {
					try(fmt.Sprintf("%T.%s", on, name), v.Method(i))
				}
			}
		}
	}
	for _, name := range exported(t, folder) {
		if functions[name] == nil {
			t.Errorf("%s is not tried", name)
		}
	}
}

// combinations are lists of arguments for a function: all zero, and each argument in turn one of the others that fit.
func combinations(f reflect.Type, others []any) (lists [][]reflect.Value) {
	n := f.NumIn()
	if f.IsVariadic() {
		n--
	}
	zero := make([]reflect.Value, n)
	for i := range zero {
		zero[i] = reflect.Zero(f.In(i))
	}
	lists = append(lists, zero)
	for i := range f.NumIn() {
		in := f.In(i)
		if i == n {
			in = in.Elem()
			lists = append(lists, append(append([]reflect.Value(nil), zero...), reflect.Zero(in)))
		}
		for _, o := range others {
			if v := reflect.ValueOf(o); v.Type().AssignableTo(in) {
				list := append([]reflect.Value(nil), zero...)
				if i == n {
					list = append(list, v)
				} else {
					list[i] = v
				}
				lists = append(lists, list)
			}
		}
	}
	return lists
}

// call fails where a panic is not one with a message of the package.
func call(t *testing.T, prefix, name string, f reflect.Value, args []reflect.Value) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			t.Errorf("%s%v: %v", name, args, e)
		default:
			if !strings.HasPrefix(fmt.Sprint(e), prefix) {
				t.Errorf("%s%v: %v", name, args, e)
			}
		}
	}()
	f.Call(args)
}

// exported lists the functions of a folder's package.
func exported(t *testing.T, folder string) (names []string) {
	declared(t, folder, false, func(f *ast.FuncDecl) {
		if f.Recv == nil && f.Name.IsExported() {
			names = append(names, f.Name.Name)
		}
	})
	return names
}

// declared visits the functions and methods of a folder's package, or those of its tests.
func declared(t *testing.T, folder string, tests bool, visit func(*ast.FuncDecl)) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(folder, err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				visit(f)
			}
		}
	}
}

// Every exported function and method of these packages is called in an example of its folder.
func TestExamples(t *testing.T) {
	for _, folder := range []string{"convex", "convex/gp", "backends", "formats/cbf", "formats/lp", "formats/qps", "formats/sdpa"} {
		shown, path := map[string]bool{}, filepath.Join("..", "..", folder)
		declared(t, path, true, func(f *ast.FuncDecl) {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Name.Name, "Example") {
					shown[s.Sel.Name] = true
				}
				return true
			})
		})
		declared(t, path, false, func(f *ast.FuncDecl) {
			public := f.Name.IsExported()
			if f.Recv != nil {
				ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
					if of, ok := n.(*ast.Ident); ok {
						public = public && of.IsExported()
					}
					return true
				})
			}
			if public && !shown[f.Name.Name] {
				t.Errorf("%s: no example calls %s", folder, f.Name.Name)
			}
		})
	}
}

// backendsFunctions are those of the package that are no methods. The test fails where one is missing.
var backendsFunctions = map[string]any{
	"Blocks": backends.Blocks, "Rows": backends.Rows, "CheckDualInfeasible": backends.CheckDualInfeasible,
	"CheckPrimalInfeasible": backends.CheckPrimalInfeasible,
	"Distance":              backends.Distance, "Known": backends.Known, "Missing": backends.Missing,
	"Names":    backends.Names,
	"PSDOrder": backends.PSDOrder,
	"Register": backends.Register, "RelativeGap": backends.RelativeGap, "SettingsOf": backends.SettingsOf[int],
	"Stationarity": backends.Stationarity,
	"Box":          backends.Box, "DualExponential": backends.DualExponential,
	"DualGeneralizedPower": backends.DualGeneralizedPower, "DualPower": backends.DualPower,
	"Exponential": backends.Exponential, "GeneralizedPower": backends.GeneralizedPower,
	"Nonnegative": backends.Nonnegative,
	"NuclearNorm": backends.NuclearNorm, "PSD": backends.PSD, "Power": backends.Power, "SecondOrder": backends.SecondOrder,
	"Zero":    backends.Zero,
	"Checked": backends.Checked, "Open": backends.Open, "NewJudge": backends.NewJudge, "Recheck": backends.Recheck,
	"EndedBy":     backends.EndedBy,
	"NewTriplets": backends.NewTriplets, "NewDerivative": backends.NewDerivative,
}

// Every function and method of the package with arguments that are nil, zero, or of wrong lengths returns, or panics
// with a message of its own.
func TestBackends(t *testing.T) {
	one := sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1})
	p := &backends.Problem{Q: []float64{1}, A: one, B: []float64{1}, Cones: []backends.Cone{backends.Nonnegative(1)}}
	short := &backends.Problem{Q: []float64{1, 2}, A: one, B: []float64{1, 2, 3},
		Cones: []backends.Cone{backends.Nonnegative(1)}}
	be := must.Of(backends.Open("native"))(t)
	s := must.Of(be.Setup(p, backends.Options{}))(t)
	cones := []any{
		backends.Zero(2), backends.Nonnegative(2), backends.Box([]float64{0}, []float64{1}), backends.Box([]float64{0}, nil),
		backends.SecondOrder(3), backends.PSD(2),
		backends.Exponential(), backends.DualExponential(), backends.Power(0.3), backends.DualPower(0.3),
		backends.NuclearNorm(2, 2),
		backends.GeneralizedPower([]float64{0.5, 0.5}, 1), backends.DualGeneralizedPower([]float64{0.5, 0.5}, 1),
		backends.Cone{}, backends.Cone{Kind: 99, Dim: 2},
	}
	at := backends.Point{X: []float64{0}, S: []float64{1}, Z: []float64{0}}
	derivative := must.Of(backends.NewDerivative(t.Context(), p, at))(t)
	receivers := append([]any{
		derivative, new(backends.Derivative),
		be, s, p, *p, short, new(backends.Problem), backends.NewJudge(p), new(backends.Judge), backends.Capabilities{},
		backends.Options{},
		backends.Optimal, backends.Residuals{}, backends.NewTriplets(3), new(backends.Triplets),
		backends.ZeroCone,
		new(backends.MemoryError), new(backends.ProblemError), new(backends.UnsupportedError),
	}, cones...)
	wrong := append([]any{
		p, short, new(backends.Problem), []float64{1}, []float64{1, 2}, []float64{1, 2, 3, 4}, -1, 5,
		backends.Update{Q: []float64{}, A: one}, backends.Update{P: one},
		backends.Point{X: []float64{1, 2}}, backends.Point{X: []float64{1}, S: []float64{1}, Z: []float64{-1}}, "native", backends.Options{Eps: -1}, backends.Options{Settings: 3}, t.Context(),
		backends.ConeKind(99), backends.Status(99), backends.NuclearNormCone, []backends.Cone{{Kind: 99, Dim: -1}},
	}, cones...)
	tryAll(t, "backends", backendsFunctions, receivers, wrong)
}
