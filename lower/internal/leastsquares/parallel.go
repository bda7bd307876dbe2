package leastsquares

import "github.com/conetune/conetune/internal/crew"

// Parallel calls f on parts of 0..n-1, whose results do not depend on the parts.
func Parallel(n, threads int, f func(lo, hi int)) {
	if threads = min(threads, n/256); threads <= 1 {
		f(0, n)
		return
	}
	var wait crew.Crew
	for k := range threads {
		wait.Go(func() { f(k*n/threads, (k+1)*n/threads) })
	}
	wait.Wait()
}
