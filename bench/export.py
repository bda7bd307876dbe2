"""What conetune export writes, run in each language beside conetune predict.

    pip install onnx onnxruntime numpy pypmml          (pypmml needs Java, R and Go are called where they are there)
    python bench/export.py --conetune ./conetune --rdata resources/rdata/csv --tables 24

Tables are made here, with gaps, dates, texts that look like numbers, and names with quotes, line ends and words of SQL,
and taken at even distances from bench/tables/targets.csv, the data sets of R (see bench/raw.py); or --model and --data name
one model and its table, as those of model/export/testdata. Each is tuned, and its
rows predicted by conetune predict --out. For each language the largest difference of a number, relative to max(1, size),
and the number of labels that differ. SQL, ONNX and PMML get typed columns: the numbers, texts and days that the Python
export makes of the cells.
"""
import argparse, csv, datetime, importlib.util, json, math, os, random, shutil, sqlite3, subprocess, sys, tempfile

TARGETS = ("python", "r", "go", "sql", "onnx", "pmml")


def made():
    """Tables by name: header, rows, arguments of tune, and whether line ends stand in quotes."""
    draw = random.Random(7)
    tables = {}

    def table(name, columns, target, *args, n=160):
        rows = [[cell() for cell in columns.values()] for _ in range(n)]
        values = [target(dict(zip(columns, row))) for row in rows]
        head = list(columns) + (list(values[0]) if isinstance(values[0], dict) else ["y"])
        tables[name] = (head, [r + (list(v.values()) if isinstance(v, dict) else [v]) for r, v in zip(rows, values)], args)

    def number(low, high, gaps=0.0, digits=2, form="{}"):
        return lambda: "" if draw.random() < gaps else form.format(round(draw.uniform(low, high), digits))

    def one(*levels, gaps=0.0, gap=""):
        return lambda: gap if draw.random() < gaps else draw.choice(levels)

    def date(layout, gaps=0.0):
        return lambda: "NA" if draw.random() < gaps else (datetime.datetime(1999, 1, 3, 1, 2, 3) + datetime.timedelta(
            days=draw.randrange(9000), seconds=draw.randrange(86400))).strftime(layout)

    noise = lambda s=1.0: draw.gauss(0, s)
    f = lambda text: float(text) if text not in ("", "NA") else 0.0
    odd = {'na"me': number(0, 5), "sel'ect": one("or'1", 'say "hi"', "a,b", "NULL)", "drop table"), "order by": number(-9, 9, 0.1),
           "größe": one("klein", "groß", "über groß", "mittel"), "変数": one("東京", "大阪", "京\n都", gaps=0.02), "a\nb": number(0, 1, 0.02),
           "select": one("x", "y y", "z\r\nz", "  padded  ", gaps=0.1, gap="NA"), "percent%s": number(1, 2), "{{x}}": number(3, 4)}
    y = lambda r: round(2 * f(r['na"me']) + 3 * (r["sel'ect"] == "or'1") + (r["変数"] == "東京") + f(r["order by"]) + 4 * (r["select"] == "x")
                        + 2 * (r["größe"] == "groß") + 9 * f(r["a\nb"]) + noise(0.3), 4)
    table("names", odd, y)
    table("names-logistic", odd, lambda r: "it's" if y(r) > 8 else 'is "not"', "logistic", "--decide", "0.3")
    table("names-multinomial", odd, lambda r: ["low", "mid,dle", "hi'gh"][min(2, max(0, int(y(r) / 5)))], "multinomial")
    table("names-positive", odd, lambda r: ["low", "mid,dle", "hi'gh"][min(2, max(0, int(y(r) / 5)))], "multinomial", "--positive", "low", "--decide", "0.4")
    looks = {"code": one("01", "1", "2.0", "A1", "B2", "1e3", gaps=0.03), "truth": one("TRUE", "true", "False", "False"), "money": number(100, 9999, 0.08, 2, "€ {:,}"),
             "share": number(-50, 50, 0, 1, "{} %"), "minus": lambda: draw.choice(["-", "\u2212"]) + str(draw.randrange(9)), "paren": lambda: draw.choice(["({})", "{}"]).format(draw.randrange(20)),
             "power": one("1e2", "1E1", "+5", ".5", "7."), "none": one("a", "b", "None", "n/a", "c"), "level": one("1", "2", "3")}
    v = lambda r: round(2 * (r["code"] in ("01", "1")) + 3 * (r["truth"] in ("TRUE", "true")) + f(r["money"].replace("€ ", "").replace(",", "")) / 1000
                        + f(r["share"][:-2]) / 20 + f(r["power"]) / 10 + (r["none"] == "b") + (r["level"] == "2") + noise(0.2), 4)
    table("looks", looks, v, "--categorical", "code,level")
    table("looks-svm", looks, lambda r: 1 if v(r) > 7 else -1, "svm", "--categorical", "level")
    table("looks-ridge", looks, v, "ridge", "--categorical", "level", "--missing", "mean")
    for k, (layout, gaps) in enumerate((("%Y-%m-%d", 0.1), ("%d.%m.%Y", 0.02), ("%m/%d/%Y %H:%M", 0.02), ("%Y-%m-%dT%H:%M:%SZ", 0),
                                        ("%a, %d %b %Y", 0), ("%b %d, %Y", 0.01), ("%I:%M %p", 0), ("%d-%b-%y", 0), ("%Y-%m-%d %H:%M:%S +0130", 0))):
        if layout != "%I:%M %p":
            table(f"dates-{k}", {"when": date(layout, gaps), "x": number(0, 9, 0.03), "c": one("u", "v", "w")}, lambda r: round(f(r["x"]) + 3 * (r["c"] == "v")
                  + (hash_of(r["when"]) % 7) / 9 + noise(0.1), 4), "ridge")
    gaps = {"a": number(0, 9, 0.2), "b": number(0, 9, 0.3), "c": one("p", "q", "r", gaps=0.2), "n": number(-1, 1)}
    w = lambda r: round(f(r["a"]) - 2 * (r["b"] == "") + 3 * (r["c"] == "q") - (r["c"] == "") + noise(0.2), 4)
    table("gaps-drop", gaps, w, "--missing", "drop")
    table("gaps-codes", {**gaps, "a": one("1", "2", "3.5", "-999", "-999.0"), "c": one("p", "q", "keine Angabe")}, w, "--na", "-999,keine Angabe")
    table("full", {"a": number(0, 9), "c": one("p", "q", "r")}, lambda r: round(f(r["a"]) + 3 * (r["c"] == "q") + noise(), 4), "--missing", "error")
    table("counts", {**gaps, "exposure": number(0.1, 2)}, lambda r: int(math.exp(f(r["n"]) + 0.5 + noise(0.1))), "poisson", "--offset", "exposure")
    table("times", gaps, lambda r: {"time": round(math.exp(noise() - f(r["n"])), 4) + 0.01, "status": draw.choice([0, 1, 1])}, "cox")
    table("several", {k: gaps[k] for k in "acn"}, lambda r: {"t one": round(f(r["a"]) + noise(), 4), 't"2': round(f(r["n"]) + 2 * (r["c"] == "q") + noise(), 4)},
          "multi-task", "--target", 't one,t"2'.replace('"', '"'))
    table("quantile", gaps, w, "quantile")
    table("clash", {"score_1": number(0, 5), "v1": number(0, 5), "Prediction": one("a", "b"), "target": number(0, 1), "probability_yes": number(0, 3)},
          lambda r: "yes" if f(r["score_1"]) - f(r["v1"]) + 2 * (r["Prediction"] == "a") + f(r["target"]) + f(r["probability_yes"]) > 2 else "no", "logistic")
    forms = {**gaps, "when": date("%Y-%m-%d", 0.02), "at": date("%d.%m.%Y %H:%M"), "level": one("1", "2", "3")}
    made_of = ("--spline", "a=4", "--poly", "n=3", "--dates", "year,season,weekday,hour", "--interact", "n:c,a:level,c:level,when:c", "--ordered",
               "level", "--reference", "c=q", "--missing", "regression")
    table("forms", forms, lambda r: round(w(r) * (1 + (r["level"] == "2")) + math.sin(f(r["a"])), 4), *made_of)
    table("forms-multinomial", forms, lambda r: ["low", "mid", "high"][min(2, max(0, int(w(r) / 3)))], "multinomial", *made_of)
    table("noise", gaps, lambda r: round(noise(), 4), "lasso")
    table("huber", {**gaps, "z": number(-1e6, 1e6, 0, 0)}, w, "huber")
    return tables


def hash_of(text):
    return sum(map(ord, text))


def write(path, head, rows):
    with open(path, "w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([head] + rows)


def typed(module, path):
    """The columns of a model with numbers, texts and days, None where they are missing."""
    with open(path, encoding="utf-8-sig", newline="") as f:
        lines = [line for line in csv.reader(f) if line]
    names = [name.replace("\r", " ").replace("\n", " ").strip() for name in lines[0]]
    columns, kinds = {}, {}
    for c in list(module.COLUMNS) + ([(module.OFFSET, "number")] if getattr(module, "OFFSET", None) else []):
        name, kind, out = c[0], c[1], []
        for line in lines[1:]:
            v = module.clean(line[names.index(name)])
            if v is not None and kind == "number":
                v = module.number(v, name)
            elif v is not None and kind == "date":
                v = module.days(v, name, *c[5:])
            elif isinstance(v, float):
                v = "%d" % v if v == int(v) else repr(v)
            out.append(v)
        columns[name], kinds[name] = out, kind
    return columns, kinds, len(lines) - 1


def module_columns(module):
    return [c[0] for c in module.COLUMNS] + [module.OFFSET or ""]


def moment(days):
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=round(days * 86400))


def run_sql(path, columns, kinds, n):
    db = sqlite3.connect(":memory:")
    db.create_function("EXP", 1, lambda v: None if v is None else math.exp(v) if v < 709 else math.inf)
    quoted = ['"' + c.replace('"', '""') + '"' for c in columns]
    kind = {"number": "REAL", "category": "TEXT", "date": "TEXT"}
    db.execute("CREATE TABLE data (%s)" % ", ".join(["row INTEGER"] + [q + " " + kind[kinds[c]] for q, c in zip(quoted, columns)]))
    cells = [[str(moment(v)) if v is not None and kinds[c] == "date" else v for v in columns[c]] for c in columns]
    db.executemany("INSERT INTO data VALUES (%s)" % ",".join("?" * (len(columns) + 1)), [(i, *(c[i] for c in cells)) for i in range(n)])
    cursor = db.execute(open(path).read().rstrip().rstrip(";"))
    names = [d[0] for d in cursor.description]
    return [names] + [[repr(v) if isinstance(v, float) else v for v in row] for row in cursor]


def run_onnx(path, columns, kinds, n):
    import numpy as np, onnx, onnxruntime
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path)
    feed = {}
    for c in columns:
        a = np.array([("" if v is None else v) if kinds[c] == "category" else (math.nan if v is None else v) for v in columns[c]],
                     dtype=object if kinds[c] == "category" else np.float64)
        feed[c] = a.reshape(-1, 1)
    out = session.run(None, feed)
    rows = [[repr(float(v)) if isinstance(v, (float, np.floating)) else v for part in out for v in np.atleast_1d(part[i])] for i in range(n)]
    return [[]] + rows


def run_pmml(path, columns, kinds, n):
    from pypmml import Model
    model = Model.load(path)
    names, rows = None, []
    for i in range(n):
        row = {}
        for c in columns:
            v = columns[c][i]
            if v is not None and kinds[c] == "date":
                v = str(moment(v))
            row[c] = v
        out = model.predict(row)
        rows.append(out)
    return rows


def differences(want, got):
    worst = labels = 0
    if len(want) != len(got):
        return math.inf, len(want)
    for a, b in zip(want[1:], got[1:]):
        if len(a) != len(b):
            return math.inf, len(want)
        for x, y in zip(a, b):
            try:
                x, y = float(x), float(y)
                d = abs(x - y) / max(1, abs(x))
                worst = max(worst, d if d == d else math.inf)
            except (TypeError, ValueError):
                labels += x != y
    return worst, labels


def read(text):
    return [line for line in csv.reader(text.splitlines(keepends=True)) if line]


def check(a, folder, name, data, args, targets):
    call = lambda *words: subprocess.run([a.conetune, *words], capture_output=True, text=True)
    model, out = os.path.join(folder, "m.json"), os.path.join(folder, "p.csv")
    kind = args[0] if args and not args[0].startswith("-") else "elastic-net"
    if a.model:
        shutil.copy(a.model, model)
    p = a.model and call("version") or call("tune", kind, "--data", data, "--save", model, *(args[1:] if kind == (args or [""])[0] else args))
    q = call("predict", "--model", model, "--data", data, "--out", out) if p.returncode == 0 else p
    if q.returncode or p.returncode:
        print(name, q.stderr.strip().split("\n")[-1][:200])
        return None
    want, result = read(open(out, encoding="utf-8", newline="").read()), {}
    module = None
    for target in targets:
        path = os.path.join(folder, "e_" + target + {"python": ".py", "r": ".R", "go": ".go"}.get(target, "." + target))
        e = call("export", model, "--to", target, "--out", path)
        if e.returncode:
            result[target] = e.stderr.strip()[-90:]
            continue
        if target == "python":
            spec = importlib.util.spec_from_file_location("exported", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            module.OFFSET = args[args.index("--offset") + 1] if "--offset" in args else None
        try:
            if target in ("python", "r"):
                s = subprocess.run([sys.executable if target == "python" else "Rscript", path, data], capture_output=True, text=True)
            elif target == "go":
                os.makedirs(os.path.join(folder, "g/predictor"), exist_ok=True)
                shutil.copy(path, os.path.join(folder, "g/predictor/predictor.go"))
                with open(os.path.join(folder, "g/main.go"), "w") as f:
                    f.write('package main\n\nimport (\n"log"\n"os"\n"g/predictor"\n)\n\nfunc main() {\nif err := predictor.PredictCSV(os.Stdin, os.Stdout); err != nil {\nlog.Fatal(err)\n}\n}\n')
                with open(os.path.join(folder, "g/go.mod"), "w") as f:
                    f.write("module g\n\ngo 1.26\n")
                s = subprocess.run(["go", "run", "."], cwd=os.path.join(folder, "g"), stdin=open(data), capture_output=True, text=True)
            else:
                run = {"sql": run_sql, "onnx": run_onnx, "pmml": run_pmml}[target]
                got = run(path, *typed(module, data))
                if target == "sql":
                    got = [row[-len(want[0]):] for row in got]
                if target == "pmml":
                    known = [c.lower() for c in module_columns(module)]
                    names = [c + "_" * (c.lower() in known) for c in want[0]]
                    got = [want[0]] + [[row[c] for c in names] for row in got]
                result[target] = differences(want, got)
                continue
            result[target] = differences(want, read(s.stdout)) if s.returncode == 0 else s.stderr.strip()[-300:]
        except Exception as wrong:
            result[target] = f"{type(wrong).__name__}: {wrong}"[:300]
    print(name, len(want) - 1, "rows", json.dumps(result), flush=True)
    return len(want) - 1, result


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--conetune", default="conetune")
    a.add_argument("--rdata", help="folder of the data sets of R")
    a.add_argument("--tables", type=int, default=24, help="how many of them")
    a.add_argument("--only", default="", help="beginning of names of tables made here")
    a.add_argument("--model", help="one saved model, in the place of tables made here")
    a.add_argument("--data", help="a table for it")
    a.add_argument("--targets", default=",".join(TARGETS))
    a = a.parse_args()
    a.conetune = os.path.abspath(a.conetune)
    jobs, worst = [], {t: [0, 0, 0, 0.0, 0] for t in a.targets.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        for name, (head, rows, args) in made().items():
            if a.model or not name.startswith(a.only):
                continue
            path = os.path.join(folder, name + ".csv")
            write(path, head, rows)
            jobs.append((name, path, args))
        if a.model:
            jobs.append((a.model, a.data, []))
        if a.rdata:
            lines = list(csv.DictReader(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables/targets.csv"))))
            for line in lines[:: max(1, len(lines) // a.tables)]:
                jobs.append((line["table"], os.path.join(a.rdata, line["table"] + ".csv"), [line["model"], "--target", line["target"]]))
        for name, path, args in jobs:
            done = check(a, folder, name, path, list(args), a.targets.split(","))
            for target, r in (done[1] if done else {}).items():
                w = worst[target]
                if isinstance(r, str):
                    w[4] += 1
                else:
                    w[0], w[1], w[2], w[3] = w[0] + 1, w[1] + done[0], w[2] + r[1], max(w[3], r[0])
    for target, (tables, rows, labels, most, failed) in worst.items():
        print(f"{target}: {tables} tables, {rows} rows, largest difference {most:.2g}, {labels} labels differ; {failed} without")


if __name__ == "__main__":
    main()
