// Package proptest checks properties of random values with one seed for the whole suite, so that a run says the same as
// the one before it: RAPID_SEED, or -rapid.seed, gives another one. The values that break a property are written to
// testdata/rapid of its package, and are tried first in every run after that, whatever the seed.
package proptest

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

// seed is that of runs that give no other; 0 would be drawn by chance.
const seed = "1"

// Check is [rapid.Check] with the seed of the suite.
func Check(t testing.TB, property func(*rapid.T)) {
	t.Helper()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == "0" {
		if err := f.Value.Set(seed); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}
