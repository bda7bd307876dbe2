// Package clitest has tables for the tests of commands.
package clitest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// CsvText makes a regression table: p normal features, of which the first three
// count, in different units.
func CsvText(seed uint64, n, p int) string {
	random := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString("y")
	for j := range p {
		fmt.Fprintf(&b, ",f%d", j+1)
	}
	b.WriteString("\n")
	for range n {
		x := make([]float64, p)
		y := 100 + random.NormFloat64()
		for j := range x {
			x[j] = random.NormFloat64()
			if j < 3 {
				y += float64(3-j) * x[j]
			}
		}
		fmt.Fprintf(&b, "%.6g", y)
		for j, v := range x {
			fmt.Fprintf(&b, ",%.6g", v*float64(1+j)+5)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func Write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Wards are twelve visits: three wards, days that are not in order with one twice, and folds that are given by name.
const Wards = `y,x,ward,day,part
1,5,north,2024-01-09,b
2,3,south,2024-01-02,a
4,4,north,2024-01-11,a
3,1,east,2024-01-01,c
5,9,east,2024-01-07,c
7,2,south,2024-01-03,b
6,6,south,2024-01-08,a
8,5,east,2024-01-05,c
9,3,south,2024-01-10,b
1,7,south,2024-01-04,a
2,8,east,2024-01-06,b
3,0,north,2024-01-07,c
`
