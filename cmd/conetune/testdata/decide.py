"""Figures of scikit-learn 1.9.1 for the tests of decisions: python decide.py, in this folder."""
import csv

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score, confusion_matrix, f1_score
from sklearn.preprocessing import StandardScaler


def least(loss, y, score, w=None):
    """The threshold of the least loss in the middle of two scores, the largest of equals."""
    cuts = np.unique(score)[::-1]
    k = np.argmin([loss(y, score >= c, w) for c in cuts])
    return (cuts[k] + cuts[k + 1]) / 2


def cost(y, called, w=None):
    return np.average(np.where(y, 10 * ~called, 1 * called), weights=w)


def f1(y, called, w=None):
    return 1 - f1_score(y, called, sample_weight=w)


def balanced(y, called, w=None):
    return 1 - balanced_accuracy_score(y, called, sample_weight=w)


# TestDecisionMeasures of package evaluate
i = np.arange(60)
score, y, w = 37 * i % 41 / 10 - 2, 61 * i % 97 < 37 * i % 41, 1.0 + i % 3
for weights in None, w:
    print("average precision", average_precision_score(y, score, sample_weight=weights))
    for loss in f1, balanced, cost:
        t = least(loss, y, score, weights)
        print(loss.__name__, t, loss(y, score > t, weights))
for name, loss in ("average precision", lambda y, s, _: average_precision_score(y, s)), ("f1", f1), ("balanced", balanced):
    s = score if name == "average precision" else score > 0
    each = np.array([loss(y[i != k], s[i != k], None) for k in i])
    print("jackknife", name, np.sqrt(59 / 60 * np.sum((each - each.mean()) ** 2)))

# TestDecide of cmd/conetune: lambda is that of the command
rows = list(csv.reader(open("../../../examples/diabetes.csv")))[1:]
x, y = np.array([r[1:] for r in rows], float), np.array([float(r[0]) > 280 for r in rows])
fold, z = np.arange(len(y)) % 5, StandardScaler().fit_transform(x)


def fit(z, y, w=None):
    total = len(y) if w is None else w.sum()
    model = LogisticRegression(C=1 / (0.010000499987500624 * total), tol=1e-12, max_iter=10000)
    return model.fit(z, y, sample_weight=w)


p = np.empty(len(y))
for k in range(5):
    p[fold == k] = fit(z[fold != k], y[fold != k]).predict_proba(z[fold == k])[:, 1]
print("average precision", average_precision_score(y, p))
for loss in f1, balanced, cost:
    called = np.empty(len(y), bool)
    for k in range(5):
        called[fold == k] = p[fold == k] > least(loss, y[fold != k], p[fold != k])
    print(loss.__name__, least(loss, y, p), loss(y, called), confusion_matrix(y, called).tolist())

# TestClassWeights of cmd/conetune
for weight in len(y) / 2 / np.array([sum(~y), sum(y)]), np.array([1, 12.0]):
    w = weight[y.astype(int)]
    scale = StandardScaler().fit(x, sample_weight=w)
    b = fit(scale.transform(x), y, w).coef_[0] / scale.scale_
    print("bmi, s5", b[2], b[8])
