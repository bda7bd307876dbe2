// Package leastsquares is what regressions with squares as their loss share, whatever their penalties:
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + penalties.
//
// [Data] is the prepared data, whose features are divided for norms of groups of coefficients.
package leastsquares
