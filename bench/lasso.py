"""Coordinate descent side by side: conetune's package internal/lower/sparse, celer, scikit-learn.

    python bench/lasso.py [--shapes 100x2500,500x50000,5000x100000s] [--ratios 0.2,0.05,0.01] [--tols 1e-4,1e-6] [--skip-sklearn]

An s after a shape means sparse. Each program gets the same data by columns, solves to a duality gap of
tol |y|^2 / n, and reports the least user CPU seconds over some repeats (of small problems, a batch each), all on one thread. Gaps are
recomputed here from the coefficients, in the same unit. Needs numpy, scipy, celer, scikit-learn and go.
"""
import argparse, json, os, resource, subprocess, tempfile, warnings
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import scipy.sparse as sp
from celer import Lasso as Celer
from sklearn.linear_model import Lasso as Sklearn

warnings.filterwarnings("ignore")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def data(n, p, sparse, seed):
    rng = np.random.default_rng(seed)
    if sparse:
        x = sp.random(n, p, 0.01, format="csc", random_state=rng, data_rvs=rng.standard_normal)
        x.sort_indices()
    else:
        x = rng.standard_normal((n, p))
        for j in range(1, p):
            x[:, j] = 0.5 * x[:, j - 1] + np.sqrt(0.75) * x[:, j]
        x = np.asfortranarray(x)
    b = np.zeros(p)
    b[rng.permutation(p)[: min(p, max(15, n // 50))]] = 1
    signal = x @ b
    noise = rng.standard_normal(n)
    return x, signal + noise * np.linalg.norm(signal) / np.linalg.norm(noise) / 2


def gap(x, y, lam, b):
    r = y - x @ b
    n = len(y)
    scale = min(1, lam * n / np.abs(x.T @ r).max())
    t = min(scale, (y @ r) / (r @ r)) if r @ r > 0 else 0
    primal = r @ r / (2 * n) + lam * np.abs(b).sum()
    return (primal - (t * (y @ r) - t * t * (r @ r) / 2) / n) * n / (y @ y)


def least(repeats, batch, make, x, y):
    best, b = 1e9, None
    for _ in range(repeats):
        model = make()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        for _ in range(batch):
            model.fit(x, y)
        t = (resource.getrusage(resource.RUSAGE_SELF).ru_utime - before) / batch
        if t < best:
            best, b = t, model.coef_
    return best, b


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--shapes", default="100x2500,500x50000,5000x100000s")
    a.add_argument("--ratios", default="0.2,0.05,0.01")
    a.add_argument("--tols", default="1e-4,1e-6")
    a.add_argument("--seed", type=int, default=0)
    a.add_argument("--repeats", type=int, default=3)
    a.add_argument("--skip-sklearn", action="store_true")
    a = a.parse_args()
    print("shape | lambda / lambda_max | tol | nonzeros | conetune s, gap | celer s, gap | scikit-learn s, gap | conetune / celer")
    print("|".join(["---"] * 8))
    for shape in a.shapes.split(","):
        sparse = shape.endswith("s")
        n, p = map(int, shape.rstrip("s").split("x"))
        x, y = data(n, p, sparse, a.seed)
        top = np.abs(x.T @ y).max() / n
        repeats, batch = a.repeats, 20 if n * p < 1e6 else 1
        jobs = [(ratio * top, tol) for ratio in map(float, a.ratios.split(",")) for tol in map(float, a.tols.split(","))]
        with tempfile.TemporaryDirectory() as d:
            if sparse:
                x.data.tofile(d + "/value")
                x.indptr.astype(np.int64).tofile(d + "/start")
                x.indices.astype(np.int64).tofile(d + "/index")
            else:
                x.T.tofile(d + "/value")
            y.tofile(d + "/y")
            # conetune's tolerance is relative to |y|^2 / (2n).
            spec = dict(N=n, P=p, Sparse=sparse, Repeats=repeats, Batch=batch, Jobs=[dict(Lambda=l, Tol=2 * t) for l, t in jobs])
            json.dump(spec, open(d + "/jobs.json", "w"))
            subprocess.run(["go", "test", "-count=1", "-run", "TestCompare", "./internal/lower/sparse"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, CONETUNE_LASSO=d, GOMAXPROCS="1"))
            ours = json.load(open(d + "/results.json"))
        for (lam, tol), o in zip(jobs, ours):
            ct, cb = least(repeats, batch, lambda: Celer(alpha=lam, tol=tol, fit_intercept=False, max_epochs=100000), x, y)
            row = [shape, f"{lam / top:g}", f"{tol:g}", str(o["Support"]), f"{o['CPU']:.4g}, {o['Gap'] / 2:.1g}", f"{ct:.4g}, {gap(x, y, lam, cb):.1g}"]
            if a.skip_sklearn:
                row.append("")
            else:
                # Its tolerance is relative to |y|^2 with the objective times n, so it is the same number.
                st, sb = least(1 if n * p > 1e6 else repeats, batch, lambda: Sklearn(alpha=lam, tol=tol, fit_intercept=False, max_iter=100000), x, y)
                row.append(f"{st:.4g}, {gap(x, y, lam, sb):.1g}")
            row.append(f"{o['CPU'] / max(ct, 1e-9):.2f}")
            print(" | ".join(row), flush=True)


main()
