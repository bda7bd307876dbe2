package main

import "strings"

// didYouMean suggests the known name that is next to one that is not known, or nothing where none is near.
func didYouMean(name string, known []string) string { return suggest(name, "", known) }

// suggest is didYouMean for names that stand after a prefix.
func suggest(name, prefix string, known []string) string {
	best, least := "", 1+len(name)/3
	for _, other := range known {
		if d := distance(strings.ToLower(name), other); d <= least {
			if d < least || best == "" {
				best, least = other, d
			}
		}
	}
	for _, other := range known {
		if best == "" && len(name) > 2 && strings.HasPrefix(other, strings.ToLower(name)) {
			best = other
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + prefix + best + "?)"
}

// distance is how many letters must be put in, taken out or replaced to make one text the other (V. I. Levenshtein, 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
