"""Tables as they come, each tuned by one command and predicted from.

    python bench/raw.py --conetune ./conetune --results raw.jsonl FILE|FOLDER..

Every CSV or TSV file, compressed or not, with 15 rows and two columns or more. Targets are the last numeric column of ten values or more (elastic-net), the last column of
two values with five rows each (logistic), and the last text of three to eight values with five rows each (multinomial); pandas only picks them.
A line of the results has the exit status, the status of the run, its seconds, and what the program said. Ends with a count, and with the lines of
what was not tuned. Needs pandas.
"""
import argparse, collections, glob, json, os, subprocess, tempfile, time, warnings
import pandas as pd

warnings.filterwarnings("ignore")
KINDS = ("*.csv", "*.tsv", "*.csv.gz", "*.csv.bz2", "*.csv.zip")


def files(paths):
    for p in paths:
        if os.path.isdir(p):
            yield from sorted(f for kind in KINDS for f in glob.glob(os.path.join(p, "**", kind), recursive=True))
        else:
            yield p


def targets(path):
    try:
        t = pd.read_csv(path, sep=None, engine="python", nrows=20000, skipinitialspace=True)
    except Exception:
        return [("?", "elastic-net")]  # for the program to say why
    if len(t) < 15 or t.shape[1] < 2:
        return []
    number = lambda c: pd.api.types.is_numeric_dtype(t[c]) and not pd.api.types.is_bool_dtype(t[c])
    kinds = {
        "elastic-net": [c for c in t if number(c) and t[c].nunique() >= 10 and str(c).lower() not in ("id", "unnamed: 0", "rownames", "x", "index")],
        "logistic": [c for c in t if t[c].nunique() == 2 and t[c].value_counts().min() >= 5],
        "multinomial": [c for c in t if not number(c) and 3 <= t[c].nunique() <= 8 and t[c].value_counts().min() >= 5],
    }
    return [(str(columns[-1]), model) for model, columns in kinds.items() if columns]


def run(program, path, target, model, folder, limit):
    saved, begun = os.path.join(folder, "model.json"), time.time()
    out = dict(path=path, target=target, model=model, code=None, status="", said="")
    command = lambda *args: subprocess.run([program, *args], capture_output=True, text=True, timeout=limit)
    try:
        p = command("tune", model, "--data", path, "--target", target, "--json", "--save", saved)
        out["code"], out["said"] = p.returncode, p.stderr
        if p.stdout.strip():
            out["status"] = json.loads(p.stdout)["status"]
        if p.returncode == 0:
            q = command("predict", "--model", saved, "--data", path)
            out["predict"] = q.returncode
    except subprocess.TimeoutExpired:
        out["status"] = "timeout"
    return dict(out, seconds=round(time.time() - begun, 2))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("paths", nargs="+")
    a.add_argument("--conetune", default="conetune")
    a.add_argument("--results", default="raw.jsonl")
    a.add_argument("--limit", type=float, default=60, help="seconds for a table")
    a = a.parse_args()
    counts, tables = collections.Counter(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, open(a.results, "w") as f:
        for path in files(a.paths):
            for target, model in targets(path):
                r = run(a.conetune, path, target, model, folder, a.limit)
                f.write(json.dumps(r) + "\n")
                f.flush()
                good = r["code"] == 0 and r["predict"] == 0
                counts[f"{r['code']} {r['status']}".strip()] += 1
                tables[path].append(good)
                if not good:
                    print(path, target, model, r["code"], r["status"], r["said"].strip().split("\n")[-1][:300])
    print(f"{sum(all(v) for v in tables.values())} of {len(tables)} tables with each of their targets; exit status and status of the run: {dict(counts)}")


if __name__ == "__main__":
    main()
