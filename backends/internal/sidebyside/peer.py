"""Solves one problem again and again with the Python package of SCS, OSQP, Clarabel or HiGHS.

Standard input has the problem in the first line, a JSON object of the arrays that the
package takes, and then one line for each time that it is to be set up and solved. Each is
answered by a JSON object with the seconds of the processor, the iterations and the objective.
Nothing but set-up and solve is within the time.
"""
import json
import sys
import time

import numpy as np
import scipy.sparse as sp


def matrix(m):
    return sp.csc_matrix((np.array(m["val"] or [], dtype=float), np.array(m["ind"] or [], dtype=np.int64), np.array(m["ptr"], dtype=np.int64)),
                         shape=(m["rows"], m["cols"]))


def scs_solver(p):
    import scs
    data = dict(A=matrix(p["A"]), b=np.array(p["b"], dtype=float), c=np.array(p["c"], dtype=float))
    if p.get("P"):
        data["P"] = matrix(p["P"])

    def solve():
        s = scs.SCS(data, p["cone"], verbose=False, **p["settings"])
        info = s.solve()["info"]
        return info["iter"], info["pobj"]
    return scs.__version__, solve


def osqp_solver(p):
    import osqp
    P, A = matrix(p["P"]), matrix(p["A"])
    q, l, u = (np.array(p[k], dtype=float) for k in ("q", "l", "u"))

    def solve():
        s = osqp.OSQP()
        s.setup(P, q, A, l, u, verbose=False, **p["settings"])
        info = s.solve().info
        return info.iter, info.obj_val
    return osqp.__version__, solve


def clarabel_solver(p):
    import clarabel
    P, A = matrix(p["P"]), matrix(p["A"])
    q, b = (np.array(p[k], dtype=float) for k in ("q", "b"))
    cones = [getattr(clarabel, name)(*arguments) for name, arguments in p["cones"]]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for name, value in p["settings"].items():
        setattr(settings, name, value)

    def solve():
        s = clarabel.DefaultSolver(P, q, A, b, cones, settings)
        found = s.solve()
        return found.iterations, found.obj_val
    return clarabel.__version__, solve


def highs_solver(p):
    import highspy
    model = highspy.HighsModel()
    lp, A = model.lp_, p["A"]
    lp.num_col_, lp.num_row_ = A["cols"], A["rows"]
    lp.col_cost_ = np.array(p["q"], dtype=float)
    lp.col_lower_, lp.col_upper_ = np.full(A["cols"], -np.inf), np.full(A["cols"], np.inf)
    lp.row_lower_, lp.row_upper_ = (np.array(p[k], dtype=float) for k in ("l", "u"))
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = np.array(A["ptr"]), np.array(A["ind"]), np.array(A["val"], dtype=float)
    if p.get("P"):
        P, model.hessian_.dim_ = p["P"], A["cols"]
        model.hessian_.format_ = highspy.HessianFormat.kTriangular
        model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = np.array(P["ptr"]), np.array(P["ind"]), np.array(P["val"], dtype=float)

    def solve():
        h = highspy.Highs()
        h.silent()
        for name, value in p["settings"].items():
            h.setOptionValue(name, value)
        h.passModel(model)
        h.run()
        info = h.getInfo()
        counts = (info.simplex_iteration_count, info.ipm_iteration_count, info.crossover_iteration_count)
        return sum(max(0, n) for n in counts), info.objective_function_value
    return highspy.Highs().version(), solve


problem = json.loads(sys.stdin.readline())
version, solve = dict(scs=scs_solver, osqp=osqp_solver, clarabel=clarabel_solver, highs=highs_solver)[problem["library"]](problem)
print(json.dumps(dict(version=version)), flush=True)
for _ in sys.stdin:
    processor = time.process_time()
    iterations, objective = solve()
    print(json.dumps(dict(processor=time.process_time() - processor, iterations=iterations, objective=objective)), flush=True)
