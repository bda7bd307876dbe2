package worklist

import "fmt"

// Shard is one part of the work, number Index of Count, from 1.
type Shard struct{ Index, Count int }

// String writes it as on the command line.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// ParseShard reads "2/4"; the empty text is the whole work.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{1, 1}, nil
	}
	var s Shard
	var rest string
	n, _ := fmt.Sscanf(text+" ", "%d/%d%s", &s.Index, &s.Count, &rest)
	if n != 2 || s.Count < 1 || s.Index < 1 || s.Index > s.Count || s.String() != text {
		return Shard{}, fmt.Errorf("%q found, expected I/N with I from 1 to N, such as 2/4", text)
	}
	return s, nil
}

// Of is the part of a list that a shard does. From one group of the list to the next the part that has its first item
// moves on by one, so that every part gets its share of what is slow at the same place of each group, and of the slow
// groups.
func (k *Kind[I, R, P]) Of(s Shard, items []I) []I {
	var part []I
	group, at := 0, 0
	for i, it := range items {
		if i > 0 && (k.Together == nil || !k.Together(items[i-1], it)) {
			group, at = group+1, 0
		}
		if (group+at)%s.Count == s.Index-1 {
			part = append(part, it)
		}
		at++
	}
	return part
}
