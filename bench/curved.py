"""Curved losses by folds beside scikit-learn, to the same accuracy: logistic regression with gaps, and twelve classes.

    python bench/curved.py --conetune ./conetune [--tables gaps,texts,classes] [--tolerances 1e-4,1e-5,1e-6]

gaps and texts have 100 000 rows of 45 numbers and five texts, gaps in twelve of the numbers, in four of which they
nearly tell the label; classes has 10 000 rows of 20 numbers. As many rows more are for the test. conetune chooses on
five folds by itself; LogisticRegressionCV (lbfgs) has ten weights of squares on five folds of the same columns, with
medians and an indicator where a column has gaps in more than a twentieth of its rows, learned once. Told are CPU
seconds of the whole of either but Python's imports, log losses of the test rows, and for scikit-learn by how much
objectives of a fold along its path are above the least (newton-cholesky), over the loss without features. One thread.
Needs numpy, pandas, scikit-learn.
"""
import argparse, json, os, resource, subprocess, tempfile, warnings
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"):
    os.environ[name] = "1"
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss

warnings.filterwarnings("ignore")


def mixed(gaps, seed=5, n=100_000, m=50_000, p=45):
    r, t = np.random.default_rng([seed, 2]), n + m
    x = r.standard_normal((t, 6)) @ r.standard_normal((6, p)) * .5 + r.standard_normal((t, p))
    x = x * np.exp(r.standard_normal(p)) + r.standard_normal(p) * 3
    w = r.standard_normal(p) * (r.random(p) < .4)
    s, texts = (x - x.mean(0)) / x.std(0) @ w, {}
    for k, levels in enumerate([3, 4, 5, 6, 8]):
        c, e = r.choice(levels, t, p=r.dirichlet(np.ones(levels) * 2)), r.standard_normal(levels)
        s, texts[f"t{k}"] = s + e[c] * .7, np.array([f"lev{v}" for v in range(levels)])[c]
    y = np.where(r.random(t) < 1 / (1 + np.exp(.4 - 1.8 * s / s.std())), "yes", "no")
    x = np.round(x, 5)
    for i, j in enumerate(r.choice(p, 12, replace=False) if gaps else []):
        share = [.02, .05, .1, .2][i % 4]
        x[r.random(t) < (np.where(y == "yes", .999, .001) * share * 1.5 if i < 4 else share), j] = np.nan
    d = pd.DataFrame(x, columns=[f"x{j}" for j in range(p)]).assign(**texts)
    d.insert(0, "y", y)
    return d[:n], d[n:]


def classes(seed=5, n=10_000, m=10_000, p=20, k=12):
    r, t = np.random.default_rng([seed, 4]), n + m
    x, w = r.standard_normal((t, p)), r.standard_normal((p, k)) * (r.random((p, 1)) < .6) * .6
    y = (x @ w + r.standard_normal(k) * .5 + r.gumbel(size=(t, k))).argmax(1)
    d = pd.DataFrame(np.round(x, 6), columns=[f"x{j}" for j in range(p)])
    d.insert(0, "y", [f"c{v}" for v in y])
    return d[:n], d[n:]


def cpu(of=resource.RUSAGE_SELF):
    u = resource.getrusage(of)
    return u.ru_utime + u.ru_stime


def prepared(folder):
    train, test = (pd.read_csv(f"{folder}/{name}.csv") for name in ("train", "test"))
    y, z = train.pop("y").to_numpy(), test.pop("y").to_numpy()
    texts = [c for c in train if train[c].dtype.kind not in "fi"]
    numbers = [c for c in train if c not in texts]
    for c in [c for c in numbers if train[c].isna().mean() > .05]:
        train[c + " gone"], test[c + " gone"] = train[c].isna() * 1., test[c].isna() * 1.
    medians = train[numbers].median()
    train, test = train.fillna(medians), test.fillna(medians)
    if texts:
        train, test = (pd.get_dummies(d, columns=texts, drop_first=True, dtype=float) for d in (train, test))
    x, t = train.to_numpy(), test[train.columns].to_numpy()
    mean, scale = x.mean(0), x.std(0)
    return (x - mean) / scale, y, (t - mean) / scale, z


def above(x, y, solver, tol):
    """Objectives of a fold along the path."""
    rows, out = np.arange(len(x)) % 5 > 0, []
    m = LogisticRegression(solver=solver, tol=tol, max_iter=100_000, warm_start=True)
    x, y = x[rows], y[rows]
    for c in np.logspace(-4, 4, 10):
        m.set_params(C=c).fit(x, y)
        out.append(log_loss(y, m.predict_proba(x)) + (m.coef_ ** 2).sum() / (2 * c * len(x)))
    return np.array(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--conetune", default="./conetune")
    p.add_argument("--tables", default="gaps,texts,classes")
    p.add_argument("--tolerances", default="1e-4,1e-5,1e-6")
    a = p.parse_args()
    print("| table | who | CPU s | log loss of the test rows | objectives above the least |\n|---|---|---|---|---|")
    for name in a.tables.split(","):
        train, test = classes() if name == "classes" else mixed(name == "gaps")
        with tempfile.TemporaryDirectory() as folder:
            train.to_csv(folder + "/train.csv", index=False)
            test.to_csv(folder + "/test.csv", index=False)
            before = cpu(resource.RUSAGE_CHILDREN)
            model = "multinomial" if name == "classes" else "logistic"
            args = [os.path.abspath(a.conetune), "tune", model, "--data", "train.csv", "--test", "test.csv", "--json"]
            out = json.loads(subprocess.run(args, cwd=folder, check=True, capture_output=True, text=True).stdout)
            print(f"| {name} | conetune | {cpu(resource.RUSAGE_CHILDREN) - before:.2f} | {out['test_error']:.6f} | |", flush=True)
            x, y, t, z = prepared(folder)
            least = above(x, y, "newton-cholesky", 1e-12)
            null = -np.log([np.mean(y == c) for c in np.unique(y)]) @ [np.mean(y == c) for c in np.unique(y)]
            for tol in map(float, a.tolerances.split(",")):
                begun = cpu()
                x, y, t, z = prepared(folder)
                m = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", tol=tol, max_iter=20_000).fit(x, y)
                took, far = cpu() - begun, (above(x, y, "lbfgs", tol) - least).max() / null
                print(f"| {name} | lbfgs, tol {tol:g} | {took:.2f} | {log_loss(z, m.predict_proba(t)):.6f} | {far:.1e} |", flush=True)


if __name__ == "__main__":
    main()
