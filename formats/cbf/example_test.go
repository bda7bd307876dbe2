package cbf_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats/cbf"
)

func Example() {
	// maximise x + y over the disk of radius 1
	m, err := cbf.Decode("disk.cbf", strings.NewReader("VER\n1\nOBJSENSE\nMAX\nVAR\n2 1\nF 2\nCON\n3 1\nQ 3\n"+
		"OBJACOORD\n2\n0 1\n1 1\nACOORD\n2\n1 0 1\n2 1 1\nBCOORD\n1\n0 1\n"))
	check(err)
	p, err := m.Conic()
	check(err)
	native, err := backends.Open("native")
	check(err)
	solver, err := native.Setup(p.Problem, backends.Options{})
	check(err)
	defer solver.Close()
	found, err := solver.Solve(context.Background())
	check(err)
	s := p.Solution(found)
	fmt.Printf("%.4f at (%.4f, %.4f)\n", s.Objective, s.X[0], s.X[1])
	// Output:
	// 1.4142 at (0.7071, 0.7071)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A conic program as a file, and the model in a file.
func ExampleFromConic() {
	m, err := cbf.FromConic(&backends.Problem{Q: []float64{1, 2}, B: []float64{-1},
		Cones: []backends.Cone{backends.Zero(1)}, A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{-1, -1})}, 0)
	check(err)
	var text strings.Builder
	check(m.Encode(&text))
	path := filepath.Join(os.TempDir(), "from-conic.cbf")
	defer os.Remove(path)
	check(os.WriteFile(path, []byte(text.String()), 0o600))
	if m, err = cbf.Read(path); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Dims())
	// Output:
	// 2 1
}
