// Package indices lists whole numbers, and what stands at them in other lists.
package indices

import (
	"fmt"
	"slices"
)

// Range is first, first+1, .., end-1.
func Range(first, end int) []int {
	list := make([]int, max(0, end-first))
	for i := range list {
		list[i] = first + i
	}
	return list
}

// Singles are the lists of each of 0, .., n-1 alone.
func Singles(n int) [][]int {
	list := make([][]int, n)
	for i := range list {
		list[i] = []int{i}
	}
	return list
}

// Where are the places of the entries of a list that are something; nil for none.
func Where[T any](list []T, is func(v T) bool) (at []int) {
	for i, v := range list {
		if is(v) {
			at = append(at, i)
		}
	}
	return at
}

// Pick are the entries of a list at some places; nil of nil.
func Pick[T any](list []T, at []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = list[i]
	}
	return out
}

// Sets are disjoint sets of 0, .., n-1: of each number another one of its set, or itself (Galler and Fisher 1964).
type Sets []int

// NewSets are sets of one number each.
func NewSets(n int) Sets { return Range(0, n) }

// First is the number that stands for the set of another.
func (s Sets) First(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// Join makes one set of two, for which the number stands that stood for that of i.
func (s Sets) Join(i, j int) { s[s.First(j)] = s.First(i) }

// Lists are the sets, in the order of the numbers that stand for them.
func (s Sets) Lists() (lists [][]int) {
	of := make([][]int, len(s))
	for i := range s {
		first := s.First(i)
		of[first] = append(of[first], i)
	}
	for _, list := range of {
		if list != nil {
			lists = append(lists, list)
		}
	}
	return lists
}

// Divide says what is wrong with groups of p features: members lists those of each, and each feature is in one.
func Divide(members [][]int, p int) error {
	of := slices.Repeat([]int{-1}, p)
	for k, group := range members {
		if len(group) == 0 {
			return fmt.Errorf("group %d is empty", k)
		}
		for _, j := range group {
			if j < 0 || j >= p {
				return fmt.Errorf("group %d has feature %d, expected 0 to %d", k, j, p-1)
			}
			if of[j] >= 0 {
				return fmt.Errorf("feature %d is in groups %d and %d", j, of[j], k)
			}
			of[j] = k
		}
	}
	if j := slices.Index(of, -1); j >= 0 {
		return fmt.Errorf("feature %d is in no group", j)
	}
	return nil
}
