// Package portfolio makes one backend of several.
//
//   - [Auto] takes the backend that suits the class of a problem, and another one where that has no answer or no room.
//   - [Race] asks several side by side and takes the first answer.
//   - [CrossCheck] asks several and passes on what they agree on; where they do not, the status is inaccurate and the
//     message says what differs.
//
// [Open] makes them of names, as the command line has them. Answers are checked as those of [backends.Open] are, each
// by itself. [Chosen] tells whose answer the last one of a solver was.
//
// What Auto and CrossCheck return depends on the problem and the backends of the build alone. What Race returns depends
// on the time, too: every answer meets the tolerance, but its last digits are those of whoever came first.
package portfolio

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/conetune/conetune/backends"
)

// AutoName is the name of the backend of [Auto] in [Open].
const AutoName = "auto"

// Chosen tells, of a solver of this package, whose answer the last Solve returned, or, before it, who is to be asked
// first; and why. Both are empty for other solvers.
func Chosen(s backends.Solver) (backend, reason string) {
	if several, ok := s.(interface{ Chosen() (string, string) }); ok {
		return several.Chosen()
	}
	return "", ""
}

// Open returns the backend of that name as [backends.Open] does, [Auto] for "auto", and [Race] for several names with
// commas between them.
func Open(names string) (backends.ConicBackend, error) {
	if names == AutoName {
		return Auto(nil), nil
	}
	if !strings.Contains(names, ",") {
		return backends.Open(names)
	}
	list, err := openAll(names)
	if err != nil {
		return nil, err
	}
	return Race(list...)
}

// OpenCrossCheck returns [CrossCheck] of the backends with these names, two at least, with commas between them.
func OpenCrossCheck(names string) (backends.ConicBackend, error) {
	if names == AutoName {
		return nil, errors.New("portfolio: a cross-check needs the names of two backends or more, with commas between them")
	}
	list, err := openAll(names)
	if err != nil {
		return nil, err
	}
	return CrossCheck(list...)
}

func openAll(names string) ([]backends.ConicBackend, error) {
	var list []backends.ConicBackend
	for _, name := range strings.Split(names, ",") {
		b, err := backends.Open(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// named checks a list of backends and returns them behind the checks of [backends.Open], and their names.
func named(list []backends.ConicBackend) ([]backends.ConicBackend, []string, error) {
	var names []string
	checked := make([]backends.ConicBackend, len(list))
	for i, b := range list {
		if slices.Contains(names, b.Name()) {
			return nil, nil, fmt.Errorf("portfolio: the backend %s is named twice", b.Name())
		}
		names = append(names, b.Name())
		checked[i] = backends.Checked(b)
	}
	if len(list) < 2 {
		return nil, nil, fmt.Errorf("portfolio: expected two backends or more, got %d", len(list))
	}
	return checked, names, nil
}

// capabilities has every cone that at least so many of the backends take, and what all of them can do with updates,
// starts and certificates.
func capabilities(list []backends.ConicBackend, least int) backends.Capabilities {
	all := backends.Capabilities{UpdateVectors: true, UpdateMatrices: true, WarmStart: true, Certificates: true,
		FirstOrder: true}
	takes, quadratic := map[backends.ConeKind]int{}, 0
	var versions, licenses []string
	for _, b := range list {
		c := b.Capabilities()
		for _, kind := range c.Cones {
			if takes[kind]++; takes[kind] == least {
				all.Cones = append(all.Cones, kind)
			}
		}
		if c.Quadratic {
			quadratic++
		}
		all.WarmStart = all.WarmStart && c.WarmStart
		all.Certificates = all.Certificates && c.Certificates
		all.FirstOrder = all.FirstOrder && c.FirstOrder
		all.Threads = all.Threads || c.Threads
		versions = append(versions, b.Name()+" "+c.Version)
		if !slices.Contains(licenses, c.License) {
			licenses = append(licenses, c.License)
		}
	}
	slices.Sort(all.Cones)
	all.Quadratic = quadratic >= least
	all.Version, all.License = strings.Join(versions, ", "), strings.Join(licenses, ", ")
	return all
}
