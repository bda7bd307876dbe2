package order

import "testing"

// The benchmarks report the entries of L and the sum of its squared column
// counts, about the multiplications of a factorisation.
func benchmarkAMD(b *testing.B, p pattern) {
	b.ReportAllocs()
	var perm []int32
	for b.Loop() {
		perm = p.amd()
	}
	entries, flops := p.cost(perm)
	b.ReportMetric(float64(entries), "entries")
	b.ReportMetric(flops, "flops")
}

func BenchmarkAMDGrid100(b *testing.B)     { benchmarkAMD(b, grid2D(100, 100)) }
func BenchmarkAMDGrid300(b *testing.B)     { benchmarkAMD(b, grid2D(300, 300)) }
func BenchmarkAMDRandom(b *testing.B)      { benchmarkAMD(b, randomPattern(1000, 20000, 1)) }
func BenchmarkAMDBipartite(b *testing.B)   { benchmarkAMD(b, bipartite(100, 250, 1, 1)) }
func BenchmarkAMDLasso(b *testing.B)       { benchmarkAMD(b, lasso(100, 250)) }
func BenchmarkAMDLassoLarge(b *testing.B)  { benchmarkAMD(b, lasso(100, 2500)) }
func BenchmarkAMDHolesInRows(b *testing.B) { benchmarkAMD(b, bipartite(100, 2500, 0.9, 1)) }

func BenchmarkColCountsGrid300(b *testing.B) {
	p := grid2D(300, 300)
	p = p.permuted(p.amd())
	b.ReportAllocs()
	for b.Loop() {
		parent := Etree(p.n, p.colptr, p.rowidx, nil)
		ColCounts(p.n, p.colptr, p.rowidx, parent, Postorder(parent, nil), nil)
	}
}
