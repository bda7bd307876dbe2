"""HOAG side by side: conetune's package internal/hypergradient and sparho.

    python bench/hoag.py [--shapes 100-20-250-p250,100-100-250-p250,100-100-100-p2500] [--seeds 1,2,3] [--dirs DIR,...]

The data are those of the elastic net experiments (training-validation-test rows, features), drawn here, or folders
with train, val and test as .csv.gz. Lasso, weighted lasso, and elastic net, of which sparho chooses one weight, half of it
for each penalty, and conetune both. Validation by held-out rows, at most 100 steps, both from a tenth
of lambda_max; conetune also from its own start. sparho runs with the tolerance that it has by default and with the falling one.
Errors are half mean squares of the lower-level solution at the selected weights, solved anew. User CPU
seconds on one thread, the least of some repeats. Needs numpy, pandas, sparho, celer, scikit-learn and go.
"""
import argparse, json, os, resource, subprocess, tempfile, warnings
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import pandas as pd
from celer import ElasticNet as CelerElasticNet, Lasso
from sparho import ElasticNet, HeldOutMSE, L1, Problem, SquaredLoss, WeightedL1, adapters, hoag_search

warnings.filterwarnings("ignore")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def draw(shape, seed):
    train, val, test, p = (int(v.lstrip("p")) for v in shape.split("-"))
    rng, n = np.random.default_rng(seed), train + val + test
    x = rng.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = 0.5 * x[:, j - 1] + np.sqrt(0.75) * x[:, j]
    b = np.zeros(p)
    b[rng.permutation(p)[:15]] = 1
    noise = rng.standard_normal(n)
    y = x @ b + noise * np.linalg.norm(x @ b) / np.linalg.norm(noise) / 2
    cut = np.split(np.arange(n), [train, train + val])
    return [(x[c], y[c]) for c in cut]


def read(folder):
    out = []
    for name in ("train", "val", "test"):
        t = pd.read_csv(f"{folder}/{name}.csv.gz").to_numpy()
        out.append((t[:, 1:], t[:, 0]))
    return out


def error(data, b):
    return 0.5 * np.mean((data[1] - data[0] @ b) ** 2)


def refit(data, lam, kind):
    x, y = data
    x = np.asfortranarray(x)
    if kind == "elastic net":
        both = lam.sum()
        return CelerElasticNet(alpha=both, l1_ratio=lam[0] / both, fit_intercept=False, tol=1e-12, max_epochs=200000).fit(x, y).coef_
    lam = np.broadcast_to(lam, x.shape[1])
    top = lam.max()
    return Lasso(alpha=top, weights=lam / top, fit_intercept=False, tol=1e-12, max_epochs=200000).fit(x, y).coef_


def sparho(sets, kind, start, decrease):
    (xt, yt), (xv, yv) = sets[:2]
    x, y = np.asfortranarray(np.vstack([xt, xv])), np.concatenate([yt, yv])
    rows = np.arange(len(y))
    penalty, solver, hp = {
        "lasso": (L1(), adapters.CelerLasso(), start),
        "weighted lasso": (WeightedL1(), adapters.SklearnWeightedLasso(), np.full(x.shape[1], start)),
        "elastic net": (ElasticNet(0.5), adapters.CelerElasticNet(), 2 * start),
    }[kind]
    problem = Problem(SquaredLoss(), penalty, x, y)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    r = hoag_search(problem, hp, solver=solver, criterion=HeldOutMSE(rows[: len(yt)], rows[len(yt):]), tolerance_decrease=decrease)
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before, np.full(2, r.best_hyperparam / 2) if kind == "elastic net" else r.best_hyperparam


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--shapes", default="100-20-250-p250,100-100-250-p250,100-100-100-p2500")
    a.add_argument("--seeds", default="1,2,3")
    a.add_argument("--dirs", default="")
    a.add_argument("--repeats", type=int, default=2)
    a = a.parse_args()
    cases = [(d.rstrip("/").split("/")[-1], read(d)) for d in a.dirs.split(",") if d]
    if not cases:
        cases = [(f"{shape} seed {seed}", draw(shape, int(seed))) for shape in a.shapes.split(",") for seed in a.seeds.split(",")]
    print("data | model | program | CPU s | validation | test | conetune's time / this")
    print("|".join(["---"] * 7))
    for name, sets in cases:
        (xt, yt), (xv, yv) = sets[:2]
        start = 0.1 * np.abs(xt.T @ yt).max() / len(yt)
        with tempfile.TemporaryDirectory() as d:
            for label, x, y in (("train", xt, yt), ("val", xv, yv)):
                np.ascontiguousarray(x.T).tofile(f"{d}/{label}.x")
                np.ascontiguousarray(y).tofile(f"{d}/{label}.y")
            json.dump(dict(Train=len(yt), Val=len(yv), P=xt.shape[1], Repeats=a.repeats, Start=start), open(d + "/jobs.json", "w"))
            subprocess.run(["go", "test", "-count=1", "-run", "TestCompare", "./internal/hypergradient"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, CONETUNE_HOAG=d, GOMAXPROCS="1"))
            ours = json.load(open(d + "/results.json"))
        for kind in ("lasso", "weighted lasso", "elastic net"):
            rows = []
            for own, label in (("start", "conetune"), ("path", "conetune, own start")):
                r = ours[f"{kind} {own}"]
                rows.append((label, r["CPU"], refit(sets[0], np.array(r["Lambda"]), kind)))
            base = rows[0][1]
            for decrease in ("constant", "exponential"):
                runs = [sparho(sets, kind, start, decrease) for _ in range(a.repeats)]
                rows.append((f"sparho, {decrease}", min(t for t, _ in runs), refit(sets[0], np.asarray(runs[0][1]), kind)))
            for label, t, b in rows:
                ratio = "" if label.startswith("conetune") else f"{base / t:.2f}"
                print(" | ".join([name, kind, label, f"{t:.3f}", f"{error(sets[1], b):.4f}", f"{error(sets[2], b):.3f}", ratio]), flush=True)


main()
