package cgo_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// foreign are the functions that a library may take from elsewhere: memory, text
// and clock of C, its mathematics, the BLAS (with scipy_ before its names if it is the
// pinned one), the three functions by which it is interrupted, and the printf of ours
// that prints nothing. Nothing that prints, opens files, handles signals or starts
// threads is among them.
var foreign = strings.Fields(`
	_GLOBAL_OFFSET_TABLE_ calloc clock_gettime free malloc memcpy memmove memset qsort realloc sprintf strcpy strlen
	exp fmod log pow sqrt
	dgesdd_ dpotrf_ dpotrs_ dsymv_ dsyr2k_ sgemm_ sgemv_ sgesdd_ sgesv_ sgesvd_ spotrf_ spotrs_ ssyevr_ ssymv_ ssyr2k_ ssyrk_
	daxpy_ ddot_ dgemm_ dgemv_ dgeqp3_ dgesv_ dgesvd_ dgetrs_ dnrm2_ dormqr_ dscal_ dsyev_ dsyevr_ dsyrk_ dtrmv_ dtrsv_ idamax_
	zheevr_ zherk_ zscal_
	cblas_daxpy cblas_dcopy cblas_dgemm cblas_dgemv cblas_dger cblas_dscal cblas_dswap cblas_dsyrk cblas_dtpsv cblas_dtrsm cblas_dtrsv
	scs_start_interrupt_listener scs_end_interrupt_listener scs_is_interrupted conetune_scs_printf __wrap_scs_solve_lin_sys
	osqp_start_interrupt_listener osqp_end_interrupt_listener osqp_is_interrupted`)

// table is what nm says about a library: names that it defines for others, and
// names that it wants from others.
type table struct {
	defines, wants []string
}

// parse reads the output of nm -g: "address kind name", without address for "U".
func parse(nm string) table {
	var t table
	for line := range strings.Lines(nm) {
		switch f := strings.Fields(line); {
		case len(f) == 2 && (f[0] == "U" || f[0] == "w"):
			t.wants = append(t.wants, f[1])
		case len(f) == 3:
			t.defines = append(t.defines, f[2])
		}
	}
	return t
}

// complaints compares libraries with the names that they should show.
func complaints(tables map[string]table, public map[string][]string) []string {
	var out []string
	owner := map[string]string{}
	for _, lib := range slices.Sorted(maps.Keys(tables)) {
		t := tables[lib]
		for _, name := range t.defines {
			if !slices.Contains(public[lib], name) {
				out = append(out, fmt.Sprintf("%s leaks %s", lib, name))
			}
			if other := owner[name]; other != "" {
				out = append(out, fmt.Sprintf("%s and %s both define %s", other, lib, name))
			}
			owner[name] = lib
		}
		for _, name := range public[lib] {
			if !slices.Contains(t.defines, name) {
				out = append(out, fmt.Sprintf("%s lacks %s", lib, name))
			}
		}
		for _, name := range t.wants {
			if !slices.Contains(foreign, strings.TrimPrefix(name, "scipy_")) {
				out = append(out, fmt.Sprintf("%s wants %s", lib, name))
			}
		}
	}
	return out
}

func TestSymbols(t *testing.T) {
	tables, public := map[string]table{}, map[string][]string{}
	for _, lib := range []string{"scs", "osqp", "clarabel", "highs"} {
		archive := filepath.Join(built(), "lib", "libconetune_"+lib+".a")
		if _, err := os.Stat(archive); err != nil {
			if lib == "clarabel" || lib == "highs" {
				continue // where there is no cargo
			}
			t.Skip("no C libraries here; make deps builds them")
		}
		nm, err := exec.Command("nm", "-g", archive).Output()
		require.NoError(t, err, "nm of GNU binutils")
		names := must.Of(os.ReadFile(lib + ".symbols"))(t)
		tables[lib], public[lib] = parse(string(nm)), strings.Fields(string(names))
	}
	assert.NotContains(t, tables["highs"].wants, "abort") // its orderings would
	for _, lib := range []string{"clarabel", "highs"} {
		if t, ok := tables[lib]; ok {
			tables[lib] = withoutStandard(t)
		}
	}
	assert.Empty(t, complaints(tables, public))
}

// withoutStandard leaves of what a library in Rust or C++ wants the BLAS and functions that print. The rest is for
// their standard libraries, and for all of what they could do: that it prints nothing and handles no signals is seen
// when it runs (backends/clarabel, backends/highs).
func withoutStandard(t table) table {
	t.wants = slices.DeleteFunc(t.wants, func(name string) bool {
		return strings.HasPrefix(name, "_Z") || !strings.HasPrefix(name, "scipy_") && !strings.HasSuffix(name, "_") &&
			!slices.Contains([]string{"printf", "puts", "putchar"}, name)
	})
	return t
}

func TestSymbolsSeesClashes(t *testing.T) {
	public := map[string][]string{"one": {"one_solve", "one_free"}, "two": {"two_solve"}}
	got := complaints(map[string]table{
		"one": parse("\none.o:\n0000000000000010 T one_solve\n0000000000000020 T QDLDL_factor\n                 U malloc\n " +
			"                U printf\n"),
		"two": parse("0000000000000010 T two_solve\n0000000000000000 B QDLDL_factor\n                 w sigaction\n"),
	}, public)
	assert.Equal(t, []string{
		"one leaks QDLDL_factor", "one lacks one_free", "one wants printf",
		"two leaks QDLDL_factor", "one and two both define QDLDL_factor", "two wants sigaction",
	}, got)
}

// TestLicenses looks for the text of each licence beside the libraries.
func TestLicenses(t *testing.T) {
	if _, err := os.Stat(filepath.Join(built(), "lib", "libconetune_scs.a")); err != nil {
		t.Skip("no C libraries here; make deps builds them")
	}
	if _, err := os.Stat(filepath.Join(built(), "lib", "libscipy_openblas.so")); err == nil {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", "OpenBLAS.txt")))(t)
		assert.Contains(t, string(text), "The OpenBLAS Project")
	}
	if _, err := os.Stat(filepath.Join(built(), "lib", "libconetune_clarabel.a")); err == nil {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", "Clarabel-crates.txt")))(t)
		for _, words := range []string{"faer v0.21.9: MIT", "serde v", "--- ", "Permission is hereby granted"} {
			assert.Contains(t, string(text), words)
		}
		text = must.Of(os.ReadFile(filepath.Join(built(), "licenses", "Clarabel.txt")))(t)
		assert.Contains(t, string(text), "Apache License")
	}
	if _, err := os.Stat(filepath.Join(built(), "lib", "libconetune_highs.a")); err == nil {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", "HiGHS.txt")))(t)
		assert.Contains(t, string(text), "MIT License")
	}
	for name, words := range map[string]string{
		"SCS": "Permission is hereby granted", "SCS-amd": "BSD 3-clause", "SCS-qdldl": "Apache License",
		"OSQP":        "Apache License",
		"OSQP-NOTICE": "OSQP", "OSQP-amd": "BSD 3-clause", "OSQP-qdldl": "Apache License",
	} {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", name+".txt")))(t)
		assert.Contains(t, string(text), words, name)
	}
}
