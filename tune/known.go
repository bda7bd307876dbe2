package tune

import (
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/wlasso"
)

// known is the name of a model whose losses and penalties this package knows, and empty for all others. It goes by the type, for the
// support vector machine by its rows: a model of the user's own may have any name, and is solved and searched as what its program says.
func known(m Model) string {
	switch m.(type) {
	case *elasticnet.Model:
		return "elastic-net"
	case *wlasso.Model:
		return "weighted-lasso"
	case *sgl.Model:
		return "sparse-group-lasso"
	case *logistic.Model:
		return "logistic"
	case *matcomp.Model:
		return "matrix-completion"
	case classifier:
		return "svm"
	}
	return ""
}
