// Package must takes the values of a call that returns an error, in a test that has nothing to say about the error:
//
//	m := must.Of(regression.Huber(s, o))(t)
//
// The test comes last because a call of several values can only be the whole of an argument list.
package must

import "github.com/stretchr/testify/require"

// Of ends the test where err is not nil, and returns v otherwise.
func Of[T any](v T, err error) func(require.TestingT) T {
	return func(t require.TestingT) T {
		noError(t, err)
		return v
	}
}

// First is [Of] the first of two values.
func First[T, U any](v T, _ U, err error) func(require.TestingT) T { return Of(v, err) }

// Both is [Of] two values.
func Both[T, U any](v T, u U, err error) func(require.TestingT) (T, U) {
	return func(t require.TestingT) (T, U) {
		noError(t, err)
		return v, u
	}
}

func noError(t require.TestingT, err error) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	require.NoError(t, err)
}
