// Package worklist does long lists of independent work: each item becomes a record, a line of a file, and work that was
// stopped goes on where it was. The experiments of the paper and the jobs of conetune batch are such lists.
//
// # Results
//
// A folder of results has
//
//	manifest.json   what was asked for, by which program, on which machine: a [Manifest]
//	results.jsonl   one line for each item that ended, in the order in which they ended
//
// A line is written in one piece and forced to disk before the next item begins, so that a kill loses the items in work
// and nothing else; a line cut off in its middle by it is removed on resuming. The last field of a line, checksum, is
// the SHA-256 of the line without that field. One process at a time writes to a folder.
//
// # Parts
//
// The list is a function of the plan alone. [Shard] divides it, [Merge] puts the parts of one plan together.
package worklist

import (
	"context"
	"time"
)

// Kind is a kind of work: what must be known of its items I, of their records R, and of its plans P.
type Kind[I comparable, R, P any] struct {
	// Schema is the version of the form of records and manifests.
	Schema int
	// Folders are those, in a folder of results, to which files are written that a kill may leave unfinished.
	Folders []string
	// Items lists the items of a plan, each once.
	Items func(P) []I
	// Head is what a record says of itself.
	Head func(*R) Head[I]
	// Together says whether an item and the next one of the list are of one group, see [Kind.Of]. Nil means never.
	Together func(a, b I) bool
	// Same says whether two records of one item agree in all but times.
	Same func(a, b *R) bool
	// Replaces says whether a record takes the place of an earlier one of its item; nil means never.
	Replaces func(later, earlier *R) bool
	// Agree rejects records that do not belong together; nil takes all.
	Agree func([]R) error
	// Difference says in what two plans differ.
	Difference func(a, b P) string
}

// Head is what a record says of itself.
type Head[I comparable] struct {
	Item    I
	Schema  int
	Version string // of the program
	Seconds float64
}

// Options say where and how to do the work of a plan.
type Options[P any] struct {
	// Dir is the folder of the results.
	Dir  string
	Plan P
	// Shard is the part of the plan to do; the zero Shard is all.
	Shard Shard
	// Resume goes on with results that are in the folder.
	Resume bool
	// Workers is how many items run at once; 0 means as many as there are processors.
	Workers int
	// Version, Machine and Command are noted in the results.
	Version, Machine, Command string
	// Observe, if not nil, is called at the start and after each item.
	Observe func(Progress)
}

// Work is how items are done.
type Work[I comparable, R any] struct {
	// Check looks at the records of earlier runs before the work begins; nil takes them as they are.
	Check func(map[I]*R) error
	// Again says whether the item of a record is to be done once more; nil means never.
	Again func(*R) bool
	// Do does an item. An error ends the whole work: what only this item is about belongs in its record.
	Do func(context.Context, I) (*R, error)
}

// Progress is how far the work is.
type Progress struct {
	// Done and All count items, those done by earlier runs included, and Workers how many run at once.
	Done, All, Workers int
	// Seconds is what those done took.
	Seconds float64
}

// Left is what the rest takes if its items take as long as those done, in the mean; 0 as long as nothing is known.
func (p Progress) Left() time.Duration {
	left := p.Seconds / float64(max(1, p.Done)) * float64(p.All-p.Done) / float64(p.Workers)
	return time.Duration(left * float64(time.Second))
}

// add counts an item that is done.
func (p *Progress) add(seconds float64) { p.Done, p.Seconds = p.Done+1, p.Seconds+seconds }

// Outcome is what a run leaves behind.
type Outcome[R, P any] struct {
	Manifest Manifest[P]
	// Records are all those of the plan in the folder, in the order of the plan.
	Records []R
	// Notes are what the user should know about results of earlier runs.
	Notes []string
	// Missing is how many items of the whole plan have no record yet.
	Missing int
}
