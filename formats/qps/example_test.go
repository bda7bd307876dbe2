package qps_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats/qps"
)

const diet = `NAME diet
ROWS
 N cost
 G energy
COLUMNS
 bread cost 2 energy 4
 milk  cost 3 energy 5
RHS
 RHS energy 10
BOUNDS
 UP BND bread 2
ENDATA
`

func Example() {
	m, err := qps.Decode("diet.mps", strings.NewReader(diet))
	check(err)
	program := m.Conic()
	native, err := backends.Open("native")
	check(err)
	solver, err := native.Setup(program.Problem, backends.Options{})
	check(err)
	defer solver.Close()
	found, err := solver.Solve(context.Background())
	check(err)
	s := program.Solution(found)
	for j, name := range m.Columns {
		fmt.Printf("%s %.3f\n", name, s.X[j])
	}
	fmt.Printf("cost %.3f, one more unit of energy costs %.3f\n", s.Objective, s.Y[0])
	// Output:
	// bread 2.000
	// milk 0.400
	// cost 5.200, one more unit of energy costs 0.600
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A conic program as a file; qps.Read reads one.
func ExampleFromConic() {
	m, err := qps.FromConic(&backends.Problem{Q: []float64{1, 2}, B: []float64{-1},
		Cones: []backends.Cone{backends.Zero(1)}, A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{-1, -1})}, 0)
	check(err)
	m.Name = "two"
	check(m.Encode(os.Stdout))
	_, err = qps.Read("no such file.mps")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output:
	// NAME two
	// ROWS
	//  N obj
	//  E r1
	// COLUMNS
	//  x1 obj 1
	//  x1 r1 -1
	//  x2 obj 2
	//  x2 r1 -1
	// RHS
	//  RHS r1 -1
	// RANGES
	// BOUNDS
	//  FR BND x1
	//  FR BND x2
	// ENDATA
	// true
}
