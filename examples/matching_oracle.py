#!/usr/bin/env python3
"""An oracle in another program: who gets which job, learned from assignments that were good.

    maxmargin train jobs.json --task process --oracle 'python3 matching_oracle.py' --cost 10

A line of the data is {"x": x, "y": y}: x[p][j] are the features of person p at job j, y[p] is the
job of p. Psi is the sum of x[p][y[p]], the loss counts the people whose job is wrong. All
assignments are tried, so the oracle is exact.
"""
import itertools
import json
import sys


def features(example, y):
    return [sum(row[job][k] for row, job in zip(example["x"], y)) for k in range(dimensions)]


def loss(example, y):
    return sum(a != b for a, b in zip(y, example["y"]))


def best(example, w, ask):
    score = [[sum(a * b for a, b in zip(w, cell)) for cell in row] for row in example["x"]]
    if ask == "margin":
        for person, right in enumerate(example["y"]):
            for job in range(len(score)):
                score[person][job] += job != right
    return max(itertools.permutations(range(len(score))),
               key=lambda y: sum(row[job] for row, job in zip(score, y)))


for line in sys.stdin:
    q = json.loads(line)
    if q["ask"] == "open":
        examples = [json.loads(line) for line in open(q["data"])]
        dimensions = len(examples[0]["x"][0][0])
        answer = {"examples": len(examples), "dimensions": dimensions, "oracle": "exact",
                  "truths": [e["y"] for e in examples]}
    elif q["ask"] == "describe":
        pairs = [(examples[i], y) for i, y in zip(q["ids"], q["structures"])]
        answer = {"losses": [loss(e, y) for e, y in pairs],
                  "features": [list(enumerate(features(e, y))) for e, y in pairs]}
    else:
        answer = {"structures": [best(examples[i], q["w"], q["ask"]) for i in q["ids"]]}
    print(json.dumps(answer), flush=True)
