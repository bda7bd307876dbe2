package table

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// idName is a name that says of numbers that they name things: id, patient_id, "Sample ID", customerId.
var idName = regexp.MustCompile(`^(?i:id)$|[-_. ](?i:id)$|[a-z](Id|ID)$`)

// looksLikeID says whether a name is one that numbers of rows may have.
func looksLikeID(name string) bool {
	return idName.MatchString(name) || slices.Contains([]string{"obs", "index", "case", "nr", "no", "number", "subject",
		"row", "seqno"}, strings.ToLower(name))
}

// unitNames are names of columns that say what several rows are about, as they stand or before id.
var unitNames = []string{"", "subject", "subj", "patient", "person", "participant", "respondent", "individual",
	"household", "family", "pupil", "student", "animal", "customer", "user"}

// namesUnit says whether a column is named after a unit, such as a patient, of which there may be several rows.
func namesUnit(name string) bool {
	plain := strings.NewReplacer("_", "", ".", "", "-", "", " ", "").Replace(strings.ToLower(name))
	return plain != "" && (slices.Contains(unitNames, plain) || strings.HasSuffix(plain, "id") &&
		slices.Contains(unitNames, strings.TrimSuffix(plain, "id")))
}

// Units are fewestUnits or more, of fewestRows rows each in the mean.
const fewestUnits, fewestRows = 5, 2

// units says whether a column names what several rows are about, which nothing keeps together yet.
func (d *Design) units(j int) bool {
	t := d.table
	c := &t.columns[j]
	if d.wanted.Division != (Division{}) || !namesUnit(c.Name) || !d.category[j] && !(c.Kind == Number && c.Integer &&
		c.Texts == 0) {
		return false
	}
	levels, missing := t.levels(j, d.rows)
	return len(levels) >= fewestUnits && fewestRows*len(levels) <= len(d.rows)-missing
}

// hints say which columns look like numbers of rows or name what several rows are about, and which say the target by
// themselves.
func (d *Design) hints() {
	t := d.table
	d.suspects()
	var y []float64
	if len(d.targets) == 1 {
		y = t.labelled(d.targets[0], d.rows, d.labels)
	}
	says := make([]bool, len(d.features))
	t.sideBySide(len(says), func(from, to int) {
		for k := from; k < to && len(y) >= 5; k++ {
			says[k] = d.determines(d.features[k], y)
		}
	})
	for k, j := range d.features {
		c := &t.columns[j]
		note := func(text string) { d.note("hint", text, FoundColumn{Name: c.Name}) }
		if c.Kind == Number && c.Distinct && c.Texts == 0 && t.rows > 10 && !d.category[j] &&
			(c.Counting || looksLikeID(c.Name)) {
			note("%s looks like a number of rows: Wanted.Labels or Wanted.Drop leaves it out")
		} else if d.units(j) {
			note("%s names what several rows are about, and is taken as a feature: Division.Group keeps the rows of each " +
				"together, so that errors are those of new ones, Wanted.Drop leaves the column out")
		}
		if says[k] {
			note("%s says the target by itself: is it known before the target is? Wanted.Drop leaves it out")
		}
	}
	for _, j := range d.crowded {
		if d.units(j) {
			d.note("hint", "%s names what several rows are about: Division.Group keeps the rows of each together, so that "+
				"errors are those of new ones", FoundColumn{Name: t.columns[j].Name})
		}
	}
}

// determines says whether a feature gives the target: numbers by a straight line, categories by their level.
func (d *Design) determines(j int, target []float64) bool {
	t := d.table
	c := &t.columns[j]
	if d.category[j] {
		levels := map[string]float64{}
		varies := false
		for k, i := range d.rows {
			level, there := c.level(t.cell(i, j))
			if !there {
				return false
			}
			v := target[k]
			if before, seen := levels[level]; seen && before != v {
				return false
			}
			levels[level] = v
			varies = varies || v != target[0]
		}
		return varies && 2*len(levels) <= len(d.rows)
	}
	const aFew = 64
	// Welford's sums of squares and products.
	var n, mx, my, xx, yy, xy float64
	for k, i := range d.rows {
		u, v := c.value(t.cell(i, j)), target[k]
		if u != u || v != v {
			return false
		}
		n++
		du, dv := u-mx, v-my
		mx += du / n
		my += dv / n
		xx += du * (u - mx)
		yy += dv * (v - my)
		xy += du * (v - my)
		if n == aFew && (xx > 0 && yy > 0 && 1-xy*xy/(xx*yy) > 0.1 || (xx > 0) != (yy > 0)) {
			return false // without a look at the others
		}
	}
	return xx > 0 && yy > 0 && 1-xy*xy/(xx*yy) < 1e-9 && !math.IsInf(xx*yy, 0)
}
