"""Problems of CVXPY's gallery and of textbooks, and what CVXPY with Clarabel says of them.

python gallery.py > gallery.json, with cvxpy 1.9.3 and clarabel 0.11.1. Each function returns the problem, its local
variables, of which the constraints have multipliers unless their names begin with _, and, for some, a parameter with
the values to solve at. The data are those of gallery_test.go. With --time it prints CPU seconds of compiling and
solving each problem, the least of five runs, instead.
"""
import json
import sys
import time

import cvxpy as cp
import numpy as np

problems = []


def problem(f):
    problems.append(f)


def g(k, *shape):
    """Numbers from -1 to 1."""
    t = range(int(np.prod(shape)))
    return np.array([((k + 2) * (i + 1) ** 3 + k * i) % 1009 / 504 - 1 for i in t]).reshape(shape)


def spd(k, n):
    """A positive definite matrix."""
    return g(k, n, n) @ g(k, n, n).T + np.eye(n)


@problem
def diet():
    x = cp.Variable(3, nonneg=True)
    a = np.array([[2, 1, 0], [0, 1, 3]])
    need = a @ x >= [4, 6]
    return cp.Problem(cp.Minimize([1, 1.5, 2] @ x), [need]), locals()


@problem
def transport():
    x = cp.Variable((2, 3), nonneg=True)
    cost = np.array([[4, 6, 9], [5, 3, 8]])
    supply, demand = cp.sum(x, axis=1) <= [30, 45], cp.sum(x, axis=0) >= [20, 25, 25]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x))), [supply, demand]), locals()


@problem
def chebyshev_centre():
    a = np.array([[2, 1], [2, -1], [-1, 2], [-1, -2]])
    x, r = cp.Variable(2), cp.Variable()
    sides = a @ x + r * np.linalg.norm(a, axis=1) <= np.ones(4)
    return cp.Problem(cp.Maximize(r), [sides]), locals()


@problem
def least_absolute():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.norm1(g(1, 12, 3) @ x - g(2, 12)))), locals()


@problem
def chebyshev_fit():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.norm_inf(g(1, 12, 3) @ x - g(2, 12)))), locals()


@problem
def max_flow():
    net = np.array([[1, 1, 0, 0, 0], [-1, 0, 1, 1, 0], [0, -1, -1, 0, 1]])
    f, flow = cp.Variable(5), cp.Variable()
    _balance, capacity = net @ f == flow * np.array([1, 0, 0]), f <= [3, 2, 1, 3, 2.5]
    _low = f >= 0
    return cp.Problem(cp.Maximize(flow), [_balance, capacity, _low]), locals()


@problem
def basis_pursuit():
    x = cp.Variable(10)
    fit = g(3, 4, 10) @ x == g(4, 4)
    return cp.Problem(cp.Minimize(cp.norm1(x)), [fit]), locals()


@problem
def piecewise_linear():
    x = cp.Variable(2)
    box = cp.abs(x) <= 4
    return cp.Problem(cp.Minimize(cp.max(g(5, 6, 2) @ x + g(6, 6))), [box]), locals()


@problem
def quantile():
    x = cp.Variable(2)
    r = g(7, 15) - g(8, 15, 2) @ x
    return cp.Problem(cp.Minimize(0.8 * cp.sum(cp.pos(r)) + 0.2 * cp.sum(cp.pos(-r)))), locals()


@problem
def production():
    x = cp.Variable(2, nonneg=True)
    limits = np.array([[1, 0], [0, 2], [3, 2]]) @ x <= [4, 12, 18]
    return cp.Problem(cp.Maximize([3, 5] @ x), [limits]), locals()


@problem
def matrix_game():
    p = cp.Variable(3, nonneg=True)
    sum = cp.sum(p) == 1
    return cp.Problem(cp.Maximize(cp.min(np.array([[3, -1, -3], [-2, 4, -1], [-5, -6, 2]]).T @ p)), [sum]), locals()


@problem
def least_squares():
    x = cp.Variable(3)
    sum = cp.sum(x) == 1
    return cp.Problem(cp.Minimize(cp.sum_squares(g(1, 12, 3) @ x - g(2, 12))), [sum]), locals()


@problem
def ridge():
    x = cp.Variable(4)
    return cp.Problem(cp.Minimize(cp.sum_squares(g(9, 10, 4) @ x - g(10, 10)) + 0.5 * cp.sum_squares(x))), locals()


@problem
def lasso():
    x, limit = cp.Variable(6), cp.Parameter(nonneg=True)
    a, b = g(11, 12, 6), g(12, 12)
    return cp.Problem(cp.Minimize(cp.sum_squares(a @ x - b) + limit * cp.norm1(x))), locals(), {limit: [0.1, 0.5, 2]}


@problem
def portfolio():
    w, gamma = cp.Variable(5, nonneg=True), cp.Parameter(nonneg=True)
    mu, sigma = g(13, 5), spd(14, 5)
    budget = cp.sum(w) == 1
    return cp.Problem(cp.Maximize(mu @ w - gamma * cp.quad_form(w, sigma)), [budget]), locals(), {gamma: [0.1, 1, 10]}


@problem
def control():
    a, b, start = np.array([[1, 0.2], [0, 1]]), np.array([[0], [0.2]]), cp.Parameter(2)
    x, u = cp.Variable((2, 11)), cp.Variable((1, 10))
    cost = cp.sum_squares(x) + 0.1 * cp.sum_squares(u)
    _moves = x[:, 1:] == a @ x[:, :10] + b @ u
    begin = x[:, 0] == start
    force = cp.abs(u) <= 1
    return cp.Problem(cp.Minimize(cost), [_moves, begin, force]), locals(), {start: [[2, 0], [-1, 1]]}


@problem
def svm():
    w, c, a, y = cp.Variable(3), cp.Variable(), g(16, 14, 3), np.sign(g(15, 14) + 2 * g(16, 14, 3)[:, 0])
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, a @ w + c)))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinge)), locals()


@problem
def huber():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(g(1, 12, 3) @ x - g(2, 12), 0.3)))), locals()


@problem
def bounded_squares():
    x = cp.Variable(4, bounds=[-0.1, 0.2])
    return cp.Problem(cp.Minimize(cp.sum_squares(g(9, 10, 4) @ x - g(10, 10)))), locals()


@problem
def simplex_projection():
    x = cp.Variable(6, nonneg=True)
    sum = cp.sum(x) == 1
    return cp.Problem(cp.Minimize(cp.sum_squares(x - g(17, 6))), [sum]), locals()


@problem
def smoothing():
    x = cp.Variable(20)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - g(18, 20)) + 3 * cp.sum_squares(cp.diff(cp.diff(x))))), locals()


@problem
def total_variation():
    x = cp.Variable(20)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - g(18, 20)) / 2 + 0.4 * cp.tv(x))), locals()


@problem
def elastic_net():
    x = cp.Variable(6)
    fit = cp.sum_squares(g(11, 12, 6) @ x - g(12, 12))
    return cp.Problem(cp.Minimize(fit + 0.3 * cp.norm1(x) + 0.2 * cp.sum_squares(x))), locals()


@problem
def isotonic():
    x = cp.Variable(12)
    order = cp.diff(x) >= 0
    return cp.Problem(cp.Minimize(cp.sum_squares(x - g(19, 12))), [order]), locals()


@problem
def quadratic():
    x = cp.Variable(4)
    rows, ball = g(22, 2, 4) @ x == [1, 2], cp.sum_squares(x) <= 9
    return cp.Problem(cp.Minimize(cp.quad_form(x, spd(20, 4)) / 2 + g(21, 4) @ x), [rows, ball]), locals()


@problem
def factor_model():
    w, f, d = cp.Variable(6, nonneg=True), g(23, 6, 2), np.arange(1, 7) / 10
    risk = cp.sum_squares(f.T @ w) + cp.sum(cp.multiply(d, w**2))
    budget = cp.sum(w) == 1
    gain = g(24, 6) @ w >= 0.1
    return cp.Problem(cp.Minimize(risk), [budget, gain]), locals()


@problem
def deconvolution():
    x = cp.Variable(12, nonneg=True)
    total = cp.sum(x) <= 1
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.convolve([1, 0.5, 0.25], x) - g(25, 14))), [total]), locals()


@problem
def inventory():
    x = cp.Variable(8, nonneg=True)
    stock = 5 + cp.cumsum(x) - np.cumsum([3, 4, 2, 5, 6, 1, 4, 3])
    kept = stock >= 0
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.5 * cp.sum(stock)), [kept]), locals()


@problem
def least_norm():
    x = cp.Variable(8)
    rows = g(26, 3, 8) @ x == g(27, 3)
    return cp.Problem(cp.Minimize(cp.norm(x)), [rows]), locals()


@problem
def robust_lp():
    x = cp.Variable(2)
    first = [2, 1] @ x + 0.2 * cp.norm(x) <= 1
    second = [-1, 1] @ x + 0.2 * cp.norm(x) <= 1
    third = [0, -1] @ x + 0.2 * cp.norm(x) <= 1
    return cp.Problem(cp.Maximize(cp.sum(x)), [first, second, third]), locals()


@problem
def fermat_weber():
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(sum(cp.norm(x - p) for p in g(28, 5, 2)))), locals()


@problem
def group_lasso():
    x = cp.Variable(9)
    groups = cp.norm(x[:3]) + cp.norm(x[3:6]) + cp.norm(x[6:])
    return cp.Problem(cp.Minimize(cp.sum_squares(g(29, 12, 9) @ x - g(30, 12)) + 1.5 * groups)), locals()


@problem
def enclosing_ball():
    c, r = cp.Variable(2), cp.Variable()
    first = cp.norm(c) <= r
    second = cp.norm(c - [2, 0]) <= r
    third = cp.norm(c - [0.8, 2.5]) <= r
    return cp.Problem(cp.Minimize(r), [first, second, third]), locals()


@problem
def image():
    x = cp.Variable((4, 5))
    steps = cp.vstack([cp.vec(x[1:, :4] - x[:3, :4], "C"), cp.vec(x[:3, 1:] - x[:3, :4], "C")])
    edges = cp.tv(x[:, 4]) + cp.tv(x[3, :])
    variation = cp.sum(cp.norm(steps, 2, axis=0)) + edges
    return cp.Problem(cp.Minimize(cp.sum_squares(x - g(31, 4, 5)) + 0.5 * variation)), locals()


@problem
def root_lasso():
    x = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.norm(g(11, 12, 6) @ x - g(12, 12)) + 0.2 * cp.norm1(x))), locals()


@problem
def risk_limit():
    w = cp.Variable(5)
    budget = cp.sum(w) == 1
    risk = cp.quad_form(w, spd(14, 5)) <= 2
    return cp.Problem(cp.Maximize(g(13, 5) @ w), [budget, risk]), locals()


@problem
def quadratic_over_linear():
    x, y = cp.Variable(3), cp.Variable()
    cap = y <= 0.4
    return cp.Problem(cp.Minimize(cp.quad_over_lin(g(32, 4, 3) @ x - g(33, 4), y) + y), [cap]), locals()


@problem
def delays():
    x = cp.Variable(4)
    width = cp.sum(x) <= 6
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply([1, 2, 3, 4], cp.inv_pos(x)))), [width]), locals()


@problem
def fair_shares():
    x = cp.Variable(4)
    rows = np.array([[1, 2, 3, 1], [2, 1, 1, 3]]) @ x <= [4, 5]
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [rows]), locals()


@problem
def harmonic():
    x = cp.Variable(4)
    cost = np.array([1, 2, 3, 4]) @ x <= 8
    return cp.Problem(cp.Maximize(cp.harmonic_mean(x)), [cost]), locals()


@problem
def risk_at_worst():
    w = cp.Variable(4, nonneg=True)
    losses = -g(34, 20, 4) @ w
    budget = cp.sum(w) == 1
    gain = cp.sum(losses) <= 0
    return cp.Problem(cp.Minimize(cp.sum_largest(losses, 4) / 4), [budget, gain]), locals()


@problem
def max_cut():
    x, w = cp.Variable((5, 5), PSD=True), np.abs(g(35, 5, 5) + g(35, 5, 5).T)
    one = cp.diag(x) == 1
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(w, 1 - x)) / 4), [one]), locals()


@problem
def nearest_correlation():
    x, c = cp.Variable((4, 4), PSD=True), (g(36, 4, 4) + g(36, 4, 4).T) / 2
    one = cp.diag(x) == 1
    return cp.Problem(cp.Minimize(cp.sum_squares(x - c)), [one]), locals()


@problem
def largest_eigenvalue():
    x = cp.Variable(2)
    a = [g(k, 4, 4) + g(k, 4, 4).T for k in (37, 38, 39)]
    return cp.Problem(cp.Minimize(cp.lambda_max(a[0] + x[0] * a[1] + x[1] * a[2]))), locals()


@problem
def completion():
    x = cp.Variable((4, 5))
    known = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 1, 0], [0, 1, 0, 1, 1]])
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(known, x - g(40, 4, 5))) + cp.normNuc(x))), locals()


@problem
def inverse_covariance():
    p, s = cp.Variable((4, 4), symmetric=True), spd(41, 4)
    return cp.Problem(cp.Maximize(cp.log_det(p) - cp.trace(s @ p) - 0.2 * cp.sum(cp.abs(p)))), locals()


@problem
def d_optimal():
    w, v = cp.Variable(8, nonneg=True), g(42, 3, 8)
    sum = cp.sum(w) == 1
    return cp.Problem(cp.Maximize(cp.log_det(v @ cp.diag(w) @ v.T)), [sum]), locals()


@problem
def a_optimal():
    w, v = cp.Variable(8, nonneg=True), g(42, 3, 8)
    sum = cp.sum(w) == 1
    return cp.Problem(cp.Minimize(cp.tr_inv(v @ cp.diag(w) @ v.T)), [sum]), locals()


@problem
def e_optimal():
    w, v = cp.Variable(8, nonneg=True), g(42, 3, 8)
    sum = cp.sum(w) == 1
    return cp.Problem(cp.Maximize(cp.lambda_min(v @ cp.diag(w) @ v.T)), [sum]), locals()


@problem
def matrix_fraction():
    x, p = cp.Variable(3), cp.Variable((3, 3), symmetric=True)
    given = x == [1, 2, 3]
    trace = cp.trace(p) <= 5
    low = p >> 0.5 * np.eye(3)
    return cp.Problem(cp.Minimize(cp.matrix_frac(x, p)), [given, trace, low]), locals()


@problem
def spectral_fit():
    x = cp.Variable((2, 3))
    return cp.Problem(cp.Minimize(cp.sigma_max(g(43, 4, 2) @ x - g(44, 4, 3)))), locals()


@problem
def lyapunov():
    a, p = np.array([[-1, 0.5], [0.2, -2]]), cp.Variable((2, 2), symmetric=True)
    stable = -(a.T @ p + p @ a) - np.eye(2) >> 0
    return cp.Problem(cp.Minimize(cp.trace(p)), [stable]), locals()


@problem
def mixing_chain():
    p = cp.Variable((4, 4), symmetric=True)
    _sums, _low, _off = p @ np.ones(4) == 1, p >= 0, p[0, 3] == 0
    return cp.Problem(cp.Minimize(cp.sigma_max(p - 0.25)), [_sums, _low, _off]), locals()


@problem
def max_entropy():
    p = cp.Variable(6)
    sum = cp.sum(p) == 1
    mean = np.arange(1, 7) @ p == 4.5
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [sum, mean]), locals()


@problem
def divergence():
    p, q = cp.Variable(5), np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    sum = cp.sum(p) == 1
    mean = np.arange(5) @ p >= 2.5
    return cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(p, q))), [sum, mean]), locals()


@problem
def logistic():
    y, w = np.sign(g(45, 16)), cp.Variable(3)
    loss = cp.sum(cp.logistic(-cp.multiply(y, g(46, 16, 3) @ w)))
    return cp.Problem(cp.Minimize(loss + 0.1 * cp.sum_squares(w))), locals()


@problem
def soft_maximum():
    x = cp.Variable(3)
    ball = cp.norm(x) <= 1
    return cp.Problem(cp.Minimize(cp.log_sum_exp(g(47, 8, 3) @ x + g(48, 8))), [ball]), locals()


@problem
def water_filling():
    x = cp.Variable(4, nonneg=True)
    power = cp.sum(x) == 1
    return cp.Problem(cp.Maximize(cp.sum(cp.log(x + [0.8, 1, 1.2, 0.3]))), [power]), locals()


@problem
def poisson():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum(cp.exp(g(49, 14, 3) @ x)) - np.arange(14) / 5 @ (g(49, 14, 3) @ x))), locals()


@problem
def betting():
    b, r = cp.Variable(3, nonneg=True), np.array([[2, 0.3, 1], [0.4, 1.9, 1], [0.8, 1.2, 1]])
    sum = cp.sum(b) == 1
    return cp.Problem(cp.Maximize([0.4, 0.3, 0.3] @ cp.log(r @ b)), [sum]), locals()


@problem
def power_control():
    x = cp.Variable(2)
    line = x[0] + 2 * x[1] == 1
    return cp.Problem(cp.Minimize(cp.exp(cp.sum_squares(x - 1)) + cp.square(cp.exp(x[0]))), [line]), locals()


@problem
def product_of_norms():
    x = cp.Variable(3)
    norms = cp.hstack([cp.norm(x - [1, 2, 3]), cp.norm1(x), 2 * cp.norm_inf(x)])
    return cp.Problem(cp.Minimize(cp.log_sum_exp(norms))), locals()


@problem
def three_norm():
    x = cp.Variable(4)
    rows = g(50, 2, 4) @ x == [1, 2]
    return cp.Problem(cp.Minimize(cp.pnorm(x, 3)), [rows]), locals()


@problem
def powers():
    x = cp.Variable(3, nonneg=True)
    sum = cp.sum(x) >= 4
    return cp.Problem(cp.Minimize(cp.sum(cp.power(x, 1.5)) + cp.sum(cp.power(x, -0.5))), [sum]), locals()


@problem
def utility():
    x = cp.Variable(4)
    budget = cp.sum(x) <= 10
    return cp.Problem(cp.Maximize([1, 2, 3, 4] @ cp.power(x, 0.3)), [budget]), locals()


@problem
def roots():
    x = cp.Variable(4)
    budget = cp.sum(x) <= 10
    cap = x <= 4
    return cp.Problem(cp.Maximize([1, 2, 3, 4] @ cp.sqrt(x)), [budget, cap]), locals()


@problem
def envelopes():
    x = cp.Variable(3)
    worst = cp.sum(cp.maximum(cp.square(x - 1), cp.abs(x), 0.5 * x))
    line = x[0] + x[1] - x[2] == 2
    return cp.Problem(cp.Minimize(worst - cp.sum(cp.minimum(x, 2 - x))), [line]), locals()


@problem
def kronecker():
    x = cp.Variable((2, 2))
    trace = cp.trace(x) == 1
    fit = cp.sum_squares(cp.kron(np.array([[1, 2], [3, -1]]), x) - g(51, 4, 4))
    return cp.Problem(cp.Minimize(fit), [trace]), locals()


@problem
def everything():
    x = cp.Variable(3)
    parts = cp.norm(x - 1) + cp.sum(cp.exp(x / 4)) + cp.power(cp.abs(x[0]), 1.5) - cp.log(x[1] + 3)
    ball = cp.sum_squares(x) <= 2
    plane = cp.sum(x) == 0.5
    return cp.Problem(cp.Minimize(parts), [ball, plane]), locals()


@problem
def infeasible_lp():
    x = cp.Variable(2, nonneg=True)
    _cap = cp.sum(x) <= -1
    return cp.Problem(cp.Minimize(cp.sum(x)), [_cap]), locals()


@problem
def unbounded_lp():
    x = cp.Variable(2, nonneg=True)
    _cap = x[0] <= 1
    return cp.Problem(cp.Minimize(x[0] - x[1]), [_cap]), locals()


@problem
def infeasible_balls():
    x = cp.Variable(2)
    _a = cp.norm(x - [2, 0]) <= 0.5
    _b = cp.norm(x + [2, 0]) <= 0.5
    return cp.Problem(cp.Minimize(x[0]), [_a, _b]), locals()


@problem
def infeasible_matrix():
    x = cp.Variable((2, 2), PSD=True)
    _off = x[0, 1] == 2
    _diagonal = cp.diag(x) <= 1
    return cp.Problem(cp.Minimize(cp.trace(x)), [_off, _diagonal]), locals()


# Multipliers with closed forms that Clarabel at 1e-10 misses by more than 1e-5: of minimize R/y + y, y <= 0.4 and of
# x^1.5 + x^-0.5 at 4/3.
residual = g(33, 4) - g(32, 4, 3) @ np.linalg.lstsq(g(32, 4, 3), g(33, 4), rcond=None)[0]
exact = {
    "quadratic_over_linear": {"cap": [residual @ residual / 0.16 - 1]},
    "powers": {"sum": [1.5 * (4 / 3) ** 0.5 - 0.5 * (4 / 3) ** -1.5]},
}


def solve(f):
    """The status, value and multipliers of a problem, for each value of its parameters."""
    p, own, *parameters = f()
    constraints = {k: c for k, c in own.items() if isinstance(c, cp.Constraint)}
    out = []
    (parameter, values), = parameters[0].items() if parameters else ((None, [None]),)
    for v in values:
        if parameter is not None:
            parameter.value = np.array(v)
        p.solve("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        at = dict(status=p.status)
        if p.status.startswith("optimal"):
            at["value"] = float(p.value)
            at["duals"] = {k: np.ravel(c.dual_value).tolist() for k, c in constraints.items() if k[0] != "_"}
            at["duals"].update(exact.get(f.__name__, {}))
        if parameter is not None:
            at["parameter"] = np.ravel(v).tolist()
        out.append(at)
    return out


def least(runs, f):
    """The least CPU seconds of some runs."""
    times = []
    for i in range(runs):
        start = time.process_time()
        f(i)
        times.append(time.process_time() - start)
    return min(times)


def measure(f):
    """Times of compiling and solving, and of solving again with the next value of a parameter."""

    def one(_):
        p, _, *parameters = f()
        for q, values in parameters[0].items() if parameters else []:
            q.value = np.array(values[0])
        p.solve("CLARABEL")

    print(f.__name__, least(5, one))
    p, _, *parameters = f()
    for q, values in parameters[0].items() if parameters else []:

        def again(i):
            q.value = np.array(values[i % len(values)])
            p.solve("CLARABEL")

        print(f.__name__ + "/again", least(20, again))


if __name__ == "__main__":
    if sys.argv[1:] == ["--time"]:
        for f in problems:
            measure(f)
    else:
        found = []
        for f in problems:
            source = __import__("inspect").getsource(f).strip().split("\n")
            found.append(json.dumps(dict(name=f.__name__, lines=len(source) - 2, solves=solve(f))))
        print("[\n" + ",\n".join(found) + "\n]")
