package sparse

import (
	"slices"

	"github.com/conetune/conetune/lower/design"
)

// singles are the columns of an [implicit] problem that are free and have one entry in all parts together, of sparse designs. Those of one row are multiples of each other, so that the matrix is as
// good as singular where the ridge is small, and standardised they are large. They are eliminated: with the entries s and the diagonal matrix R of the ridge
// of those of a row, its weight omega and f = s'z + x'y its prediction, y being the coefficients of the other columns,
//
//	R z + s omega f = g   gives   omega f = omega' (t + x'y),   omega' = omega / (1 + omega q),   q = s'R^-1 s,   t = s'R^-1 g,
//
// so that what remains is the matrix of the others with the row's weight omega' (the formula of Sherman and Morrison).
type singles struct {
	at       []singleAt
	rows     [][]int     // with such columns, of each part, rising
	omega    [][]float64 // weights with omega' in these rows, of each part; nil where there are none
	t        [][]float64 // of the rows
	places   []int       // in free of what is kept
	diagonal []float64   // of the matrix of what is kept
}

// singleAt is one of the columns.
type singleAt struct {
	place          int // in free
	part, row      int
	value, inverse float64 // the entry, and that of R^-1
}

// find finds them among what is free in p, and what is kept. There are none where its rows are factored, or where a part is dense.
func (s *singles) find(p *implicit) {
	s.at, s.places, p.kept = s.at[:0], s.places[:0], p.kept[:0]
	allowed := !p.byRows.on && !slices.ContainsFunc(p.parts, func(part implicitPart) bool { return part.x.Dense() })
	for place, i := range p.free {
		ridge := p.ridge[i] + leastPlus*p.norm[i]
		if !allowed || p.length[i] != 1 || p.columns[i] == design.Ones || !(ridge > 0) {
			s.places, p.kept = append(s.places, place), append(p.kept, i)
			continue
		}
		one := singleAt{place: place, inverse: 1 / ridge}
		for t, part := range p.parts {
			if index, value := part.x.Column(p.columns[i]); len(index) > 0 {
				one.part, one.row, one.value = t, index[0], value[0]
			}
		}
		s.at = append(s.at, one)
	}
	s.omega, s.t, s.rows = nil, nil, nil
	if len(s.at) > 0 {
		s.reweigh(p)
	}
}

// reweigh sets the weights.
func (s *singles) reweigh(p *implicit) {
	for _, part := range p.parts {
		s.t = append(s.t, make([]float64, len(part.omega)))
		s.omega = append(s.omega, slices.Clone(part.omega))
		s.rows = append(s.rows, nil)
	}
	for _, one := range s.at {
		s.rows[one.part] = append(s.rows[one.part], one.row)
		s.t[one.part][one.row] += one.value * one.value * one.inverse
	}
	for t, rows := range s.rows {
		slices.Sort(rows)
		s.rows[t] = slices.Compact(rows)
		for _, i := range s.rows[t] {
			s.omega[t][i] /= 1 + s.omega[t][i]*s.t[t][i]
		}
	}
}

// weights are those of the rows of a part in the matrix of what is kept.
func (s *singles) weights(p *implicit, t int) []float64 {
	if s.omega == nil {
		return p.parts[t].omega
	}
	return s.omega[t]
}

// setDiagonal sets the diagonal.
func (s *singles) setDiagonal(p *implicit) {
	s.diagonal = s.diagonal[:0]
	for _, i := range p.kept {
		s.diagonal = append(s.diagonal, p.norm[i])
	}
	for t, rows := range s.rows {
		for _, i := range rows {
			less := p.parts[t].omega[i] - s.omega[t][i]
			at, value := p.rows[t].Row(i)
			for k, l := range at {
				s.diagonal[l] -= less * value[k] * value[k]
			}
		}
	}
	for l, i := range p.kept { // which rounding may have made too small
		s.diagonal[l] = max(s.diagonal[l], p.ridge[i]+leastPlus*p.norm[i])
	}
}

// less is what is to be subtracted from the matrix of the columns inside, by columns, of which the lower triangle is set; nil where there are no singles.
func (s *singles) less(p *implicit) []float64 {
	if s.omega == nil {
		return nil
	}
	order := len(p.inside)
	out, of := make([]float64, order*order), slices.Repeat([]int{-1}, len(p.kept))
	for l, place := range p.inside {
		of[place] = l
	}
	var in []int
	var entry []float64
	for t, rows := range s.rows {
		for _, i := range rows {
			in, entry = in[:0], entry[:0]
			at, value := p.rows[t].Row(i)
			for k, l := range at {
				if of[l] >= 0 {
					in, entry = append(in, of[l]), append(entry, value[k])
				}
			}
			if p.end.Reached(len(in) * len(in)) {
				return out
			}
			less := p.parts[t].omega[i] - s.omega[t][i]
			for k, j := range in { // which rise
				column, v := out[j*order:(j+1)*order], less*entry[k]
				for m := k; m < len(in); m++ {
					column[in[m]] += v * entry[m]
				}
			}
		}
	}
	return out
}

// reduce is the right-hand side of what is kept, from one of all that is free.
func (s *singles) reduce(p *implicit, g []float64) []float64 {
	out := make([]float64, len(s.places))
	for l, place := range s.places {
		out[l] = g[place]
	}
	for t, rows := range s.rows {
		for _, i := range rows {
			s.t[t][i] = 0
		}
	}
	for _, one := range s.at {
		s.t[one.part][one.row] += one.value * one.inverse * g[one.place]
	}
	for t, rows := range s.rows {
		for _, i := range rows {
			v := s.omega[t][i] * s.t[t][i]
			at, value := p.rows[t].Row(i)
			for k, l := range at {
				out[l] -= v * value[k]
			}
		}
	}
	return out
}

// expand is the solution for all that is free and the right-hand side g that was reduced last, from that of what is kept.
func (s *singles) expand(p *implicit, g, y []float64) []float64 {
	if s.omega == nil {
		return y
	}
	out := make([]float64, len(g))
	for l, place := range s.places {
		out[place] = y[l]
	}
	for t, rows := range s.rows {
		for _, i := range rows {
			at, value := p.rows[t].Row(i)
			for k, l := range at {
				s.t[t][i] += value[k] * y[l]
			}
		}
	}
	for _, one := range s.at {
		f := s.omega[one.part][one.row] * s.t[one.part][one.row]
		out[one.place] = one.inverse * (g[one.place] - one.value*f)
	}
	return out
}
