package worklist

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/words"
)

// outcome puts the records of the plan into its order.
func (k *Kind[I, R, P]) outcome(m Manifest[P], records []R) (*Outcome[R, P], error) {
	have, err := k.byItem(records)
	if err != nil {
		return nil, err
	}
	out := &Outcome[R, P]{Manifest: m}
	for _, i := range k.Items(m.Plan) {
		if r, ok := have[i]; ok {
			out.Records = append(out.Records, *r)
		} else {
			out.Missing++
		}
	}
	return out, nil
}

// byItem are the records of the items. An item may have several that came out alike, and one that takes the place of
// those before.
func (k *Kind[I, R, P]) byItem(records []R) (map[I]*R, error) {
	have := make(map[I]*R, len(records))
	for n := range records {
		r := &records[n]
		item := k.Head(r).Item
		first, ok := have[item]
		switch {
		case !ok, k.Replaces != nil && k.Replaces(r, first):
			have[item] = r
		case k.Replaces != nil && k.Replaces(first, r):
		case !k.Same(first, r):
			return nil, fmt.Errorf("%v is there twice, with different results (by versions %s and %s)", item, k.Head(first).Version, k.Head(r).Version)
		}
	}
	return have, nil
}

// notesOn says which records are those of another version.
func (k *Kind[I, R, P]) notesOn(records []R, version string) []string {
	var others []string
	n := 0
	for i := range records {
		if v := k.Head(&records[i]).Version; v != version {
			n++
			others = With(others, v)
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the results that are kept were made by version %s, this is %s; choose another folder to have all by one version", n, words.Joined(others), version)}
}

// With appends what is not there, and not empty.
func With(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// errWorker ends a run whose worker has panicked.
var errWorker = errors.New("worklist: internal failure")
