// Package leastsquares is what regressions with squares as their loss share, whatever their penalties:
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + penalties.
//
// [Data] is the prepared data, [Point] coefficients with their residual. [Groups] divides the features for norms of
// groups of coefficients, and [GroupPoint] has what a solver with such norms does at a point: an epoch of block
// coordinate descent and the lower bound of the dual.
package leastsquares
