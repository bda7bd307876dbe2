package cbf

import "github.com/conetune/conetune/formats/textfile"

// coefficients reads OBJACOORD or BCOORD: index and value.
func (r *reader) coefficients() error {
	list, limit, what := &r.m.Objective, r.variables, "variable"
	if r.section == "BCOORD" {
		list, limit, what = &r.m.B, r.rows, "constraint"
	}
	return r.counted("entries", func() error {
		if err := r.line(2, what+" and value"); err != nil {
			return err
		}
		i, err := r.index(0, limit, what)
		if err != nil {
			return err
		}
		v, err := r.number(1)
		if err != nil {
			return err
		}
		*list = append(textfile.Grow(r.s, *list, 1), Coefficient{i, v})
		return nil
	})
}

// constant reads OBJBCOORD.
func (r *reader) constant() (err error) {
	if err := r.line(1, "a number"); err != nil {
		return err
	}
	r.m.Constant, err = r.number(0)
	return err
}

// entries reads ACOORD: constraint, variable and value.
func (r *reader) entries() error {
	return r.counted("entries", func() error {
		if err := r.line(3, "constraint, variable and value"); err != nil {
			return err
		}
		i, err := r.index(0, r.rows, "constraint")
		if err != nil {
			return err
		}
		j, err := r.index(1, r.variables, "variable")
		if err != nil {
			return err
		}
		v, err := r.number(2)
		if err != nil {
			return err
		}
		r.m.A = append(textfile.Grow(r.s, r.m.A, 1), Entry{i, j, v})
		return nil
	})
}

// matrixEntries reads OBJFCOORD or DCOORD: matrix, row, column and value.
func (r *reader) matrixEntries() error {
	list, orders, what := &r.m.ObjectiveMatrix, r.m.PSDVar, "matrix variable"
	if r.section == "DCOORD" {
		list, orders, what = &r.m.D, r.m.PSDCon, "matrix constraint"
	}
	return r.counted("entries", func() error {
		if err := r.line(4, what+", row, column and value"); err != nil {
			return err
		}
		owner, err := r.index(0, len(orders), what)
		if err != nil {
			return err
		}
		i, j, v, err := r.matrixPlace(1, orders[owner])
		if err != nil {
			return err
		}
		*list = append(textfile.Grow(r.s, *list, 1), MatrixEntry{owner, i, j, v})
		return nil
	})
}

// crossEntries reads FCOORD (constraint, matrix variable) or HCOORD (matrix
// constraint, variable), then row, column and value.
func (r *reader) crossEntries() error {
	list, owners, others := &r.m.F, r.rows, len(r.m.PSDVar)
	what, other := "constraint", "matrix variable"
	if r.section == "HCOORD" {
		list, owners, others = &r.m.H, len(r.m.PSDCon), r.variables
		what, other = "matrix constraint", "variable"
	}
	return r.counted("entries", func() error {
		if err := r.line(5, what+", "+other+", row, column and value"); err != nil {
			return err
		}
		owner, err := r.index(0, owners, what)
		if err != nil {
			return err
		}
		second, err := r.index(1, others, other)
		if err != nil {
			return err
		}
		var order int
		if r.section == "HCOORD" {
			order = r.m.PSDCon[owner]
		} else {
			order = r.m.PSDVar[second]
		}
		i, j, v, err := r.matrixPlace(2, order)
		if err != nil {
			return err
		}
		*list = append(textfile.Grow(r.s, *list, 1), CrossEntry{owner, second, i, j, v})
		return nil
	})
}

// matrixPlace reads row, column and value from word k on; the place is returned
// in the lower triangle.
func (r *reader) matrixPlace(k, order int) (i, j int, v float64, err error) {
	if i, err = r.index(k, order, "row"); err != nil {
		return 0, 0, 0, err
	}
	if j, err = r.index(k+1, order, "column"); err != nil {
		return 0, 0, 0, err
	}
	v, err = r.number(k + 2)
	return max(i, j), min(i, j), v, err
}
