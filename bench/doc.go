// Package bench measures the solvers and the methods on the applications. Its
// benchmarks report the time, the iterations of the conic solver and the
// accuracy reached, recomputed on the unscaled data:
//
//	go test -bench . ./bench
package bench
