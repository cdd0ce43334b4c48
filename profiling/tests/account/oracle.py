"""Longest paths by networkx and area bounds by scipy, from JSON on standard input to JSON on standard output."""

import json
import sys


def path(case):
    import networkx

    graph = networkx.DiGraph()
    graph.add_edges_from(("source", task, {"weight": 0}) for task in range(len(case["durations"])))
    graph.add_edges_from((a, b, {"weight": case["durations"][a]}) for a, b in case["edges"])
    graph.add_edges_from((task, "sink", {"weight": time}) for task, time in enumerate(case["durations"]))
    return networkx.dag_longest_path_length(graph)


def area(case):
    from scipy.optimize import linprog

    pairs = [(k, r) for k, row in enumerate(case["times"]) for r, time in enumerate(row) if time is not None]
    equal = [[float(pair[0] == k) for pair in pairs] + [0.0] for k in range(len(case["tasks"]))]
    load = [
        [case["times"][pair[0]][r] if pair[1] == r else 0.0 for pair in pairs] + [-float(workers)]
        for r, workers in enumerate(case["workers"])
    ]
    objective = [0.0] * len(pairs) + [1.0]
    answer = linprog(objective, load, [0.0] * len(load), equal, case["tasks"], method="highs")
    assert answer.status == 0, answer.message
    return answer.fun


cases = json.load(sys.stdin)
kinds = {"path": path, "area": area}
json.dump({kind: [kinds[kind](case) for case in rows] for kind, rows in cases.items()}, sys.stdout)
