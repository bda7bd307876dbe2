"""Performance profiles (Dolan, More 2002) of solvers on collections of programs.

    python bench/profiles.py RESULTS.jsonl .. --out docs/native.png

Each line is a solve: {"kind", "instance", "solver", "status", "time", "primal", "dual", "gap"}, the last three being
residuals that were computed anew. It counts as solved if the status is optimal, or what "expected" says, and none of
them is above --tol. A panel for each kind shows the share of the instances that a solver solves within a multiple of
the least time of all, of which those below a millisecond count as one. Prints the numbers solved and the geometric
means of the times, over those of the first solver, on what both solve. Needs matplotlib and numpy.
"""
import argparse, collections, json
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

p = argparse.ArgumentParser()
p.add_argument("results", nargs="+")
p.add_argument("--out", required=True)
p.add_argument("--tol", type=float, default=1e-6)
args = p.parse_args()

times = collections.defaultdict(lambda: collections.defaultdict(dict))
for path in args.results:
    for line in open(path):
        r = json.loads(line)
        solved = r["status"] == r.get("expected", "optimal") and all((r.get(k) or 0) <= args.tol for k in ("primal", "dual", "gap"))
        t = max(r["time"], 1e-3) if solved else np.inf
        of = times[r["kind"]][r["solver"]]
        of[r["instance"]] = min(of.get(r["instance"], np.inf), t)

figure, axes = plt.subplots(1, len(times), figsize=(4.2 * len(times), 3.6), sharey=True, squeeze=False)
for ax, (kind, of) in zip(axes[0], times.items()):
    instances = sorted(set.union(*(set(t) for t in of.values())))
    table = {s: np.array([t.get(i, np.inf) for i in instances]) for s, t in of.items()}
    best = np.min(list(table.values()), axis=0)
    own, least = next(iter(table)), best < np.inf
    for solver, t in table.items():
        both = (t < np.inf) & (table[own] < np.inf)
        mean = np.exp(np.mean(np.log(t[both] / table[own][both])))
        print(f"{kind} {solver}: {np.sum(t < np.inf)} of {len(instances)} solved, {mean:.2f} of the time of {own}")
        ratios = np.sort(np.where(least, t / np.where(least, best, 1), np.inf))
        ax.step(np.append(ratios[ratios < np.inf], 1e3), np.append(np.arange(1, np.sum(ratios < np.inf) + 1),
                np.sum(ratios < np.inf)) / len(instances), where="post", label=solver)
    ax.set(xscale="log", xlim=(1, 100), ylim=(0, 1.02), title=f"{kind}, {len(instances)} files", xlabel="times the least")
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right")
axes[0][0].set_ylabel("share solved")
figure.tight_layout()
figure.savefig(args.out, dpi=110)
