"""Prediction intervals of NumPy and scikit-learn 1.9.1 for TestIntervals: python intervals.py, in this folder."""
import csv

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

rows = np.array(list(csv.reader(open("../../../examples/diabetes.csv")))[1:], float)
y, z, new = rows[:, 0], StandardScaler().fit_transform(rows[:, 1:]), [0, 1, 200]
fold, weight = np.arange(len(y)) % 5, 0.02


def fit(chosen):
    return Ridge(alpha=weight * chosen.sum(), solver="cholesky").fit(z[chosen], y[chosen])


def show(name, at, residual):
    """Bounds of rows: at has a line for each residual, what its fit predicts for them."""
    n = len(residual)
    for level in 0.5, 0.9:
        m = int(np.ceil(level * (n + 1)))
        low = np.sort(at - residual[:, None], axis=0)[n - m]  # the m-th largest
        high = np.sort(at + residual[:, None], axis=0)[m - 1]
        print(name, level, ", ".join(f"{{{a!r}, {b!r}}}" for a, b in zip(low.tolist(), high.tolist())))


at, residual = np.empty((len(y), len(new))), np.empty(len(y))
for k in range(5):
    model = fit(fold != k)
    residual[fold == k] = abs(y[fold == k] - model.predict(z[fold == k]))
    at[fold == k] = model.predict(z[new])
show("cv+", at, residual)
