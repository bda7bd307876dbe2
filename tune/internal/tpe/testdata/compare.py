"""Best values of 100 evaluations by the TPE of hyperopt and of Optuna on standard test functions, 30 seeds each.

    pip install hyperopt==0.3.0 optuna==5.0.0 && python compare.py > peers.json

The functions are those of the tests of this package, on the unit cube. The last two are validation errors of the elastic net
over log10 lambda1 and log10 lambda2 in [-5, 2], interpolated from tables:

    conetune generate elastic-net --preset SIZE --seed 1 --out DIR
    conetune tune elastic-net --dir DIR --method grid --evaluations 1296 --range 1e-5:100 --trace FILE

with a line for each lambda1 and a column for each lambda2, both rising.
"""
import json
import math
import sys

import hyperopt
import numpy as np
import optuna

SEEDS, EVALUATIONS = 30, 100


def sphere(u):  # on [-5, 5]^2, shifted off the centre, where the prior sits
    return sum((10 * v - 5 - 1.3) ** 2 for v in u)


def rosenbrock(u):  # on [-2, 2]^2
    x, y = 4 * u[0] - 2, 4 * u[1] - 2
    return 100 * (y - x * x) ** 2 + (1 - x) ** 2


def branin(u):
    x, y = 15 * u[0] - 5, 15 * u[1]
    return (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
P = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991], [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]


def hartmann6(u):
    return -sum(c * math.exp(-sum(a * (v - 1e-4 * p) ** 2 for a, v, p in zip(A[i], u, P[i]))) for i, c in enumerate([1, 1.2, 3, 3.2]))


def table(name):
    t = np.loadtxt(f"{name}.csv", delimiter=",")
    n = len(t) - 1

    def f(u):
        i, j = (min(int(v * n), n - 1) for v in u)
        a, b = u[0] * n - i, u[1] * n - j
        return (1 - a) * ((1 - b) * t[i, j] + b * t[i, j + 1]) + a * ((1 - b) * t[i + 1, j] + b * t[i + 1, j + 1])

    return f, 2, t.min()


FUNCTIONS = {"sphere": (sphere, 2, 0), "rosenbrock": (rosenbrock, 2, 0), "branin": (branin, 2, 0.39788735772973816), "hartmann6": (hartmann6, 6, -3.322368011391339),
             "elastic-net-100-20-250-p250": table("elastic-net-100-20-250-p250"), "elastic-net-100-100-250-p250": table("elastic-net-100-100-250-p250")}


def by_hyperopt(f, n, seed):
    trials = hyperopt.Trials()
    space = [hyperopt.hp.uniform(f"x{i}", 0, 1) for i in range(n)]
    hyperopt.fmin(lambda u: f(u), space, algo=hyperopt.tpe.suggest, max_evals=EVALUATIONS, trials=trials, rstate=np.random.default_rng(seed), show_progressbar=False, verbose=False)
    return min(trials.losses())


def by_optuna(f, n, seed, **options):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, **options))
    study.optimize(lambda t: f([t.suggest_float(f"x{i}", 0, 1) for i in range(n)]), n_trials=EVALUATIONS)
    return study.best_value


out = {}
for name, (f, n, best) in FUNCTIONS.items():
    out[name] = {
        "hyperopt": [by_hyperopt(f, n, s) - best for s in range(SEEDS)],
        "optuna": [by_optuna(f, n, s, multivariate=False) - best for s in range(SEEDS)],
        "optuna default": [by_optuna(f, n, s) - best for s in range(SEEDS)],
    }
    print(name, {k: (np.mean(np.log10(v)), np.std(np.log10(v)) / SEEDS**0.5) for k, v in out[name].items()}, file=sys.stderr)
json.dump(out, sys.stdout, indent=1)
