package tune

import "github.com/conetune/conetune/tune/hypergradient"

// paperDescent are the settings of IGJO in the experiments of the paper, those of Feng and Simon's program: where it starts, its steps
// and how many. The program's losses are means of halved squares for the sparse group lasso. For the elastic net they are sums, so that there, with n training and m
// validation rows, its weights are n times ours and its gradient m/n times ours.
func paperDescent(m Model) (start float64, steps *hypergradient.Backtracking, most int) {
	const first, shrink, share, enough = 1, 0.1, 1e-3, 5e-4
	switch known(m) {
	case "elastic-net":
		train, val, _ := m.(regressor).Data().Fold(0).Rows()
		n, v := float64(len(train.Y)), float64(len(val.Y))
		unit := v / (n * n)
		return paperStart / n, &hypergradient.Backtracking{
			First: first * unit, Shrink: shrink, Least: 1e-8 * unit, Share: share * v, Enough: enough, Floor: 1e-5 / n,
		}, 100
	case "sparse-group-lasso":
		return paperStart, &hypergradient.Backtracking{First: first, Shrink: shrink, Least: 1e-6, Share: share, Enough: enough, Floor: 1e-6}, 50
	}
	return paperStart, nil, 0
}

// paperStart is the paper's start of IGJO.
const paperStart = 0.01
