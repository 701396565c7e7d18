#!/usr/bin/env python3
"""check_certificate.py REPORT MODEL DATA repeats `maxmargin verify MODEL DATA --report REPORT`: primal and
dual of every machine from the model file and its training data. Fails unless the report encloses them.
DATA is LIBSVM text; svc (hinge) and svr (tube), free bias, no scaling; linear, rbf, polynomial, laplacian."""
import json, struct, sys
from math import exp, fsum

def read_model(path):
    raw = open(path, "rb").read()
    begin = raw.index(b"\nheader ") + 8
    size, begin = int(raw[begin:raw.index(b"\n", begin)]), raw.index(b"\n", begin) + 1
    header, at, arrays = json.loads(raw[begin:begin + size]), begin + size, {}
    for name, kind, count in header["sections"]:
        letter, width = {"u64": ("Q", 8), "f64": ("d", 8), "u32": ("I", 4), "f32": ("f", 4)}[kind]
        arrays[name] = struct.unpack(f"<{count}{letter}", raw[at:at + count * width])
        at += count * width
    return header, arrays, raw[-33:-1].decode()

def kernel_of(k):
    dot = lambda x, z: fsum(v * z.get(j, 0.0) for j, v in x.items())
    gaps = lambda x, z: [x.get(j, 0.0) - z.get(j, 0.0) for j in {**x, **z}]
    return {"linear": dot,
            "rbf": lambda x, z: exp(-k["gamma"] * fsum(d * d for d in gaps(x, z))),
            "laplacian": lambda x, z: exp(-k["gamma"] * fsum(map(abs, gaps(x, z)))),
            "polynomial": lambda x, z: (k["gamma"] * dot(x, z) + k["coef0"]) ** k["degree"]}[k["name"]]

def objectives(o, machine, rows, K, beta, bias):
    primal, dual, cost, eps = [], [], float(o["cost"]), float(o.get("epsilon", 0))
    for i, (label, x) in enumerate(rows):
        side = machine(label)
        if side is None:
            continue
        g, b = fsum(c * K(rows[j][1], x) for j, c in beta.items()), beta.get(i, 0.0)
        f, C = g + bias, cost * float(o.get("class-weight " + f"{label:g}", 1))
        primal += [b * g / 2, C * max(0.0, 1 - side * f) if o["task"] == "svc" else
                   C * (float(o["under"]) * max(0.0, label - f - eps) + float(o["over"]) * max(0.0, f - label - eps))]
        dual += [-b * g / 2, abs(b) if o["task"] == "svc" else label * b - eps * abs(b)]
    return fsum(primal), fsum(dual)

report, (header, arrays, checksum) = json.load(open(sys.argv[1])), read_model(sys.argv[2])
o, machines, at, lam, good = dict(map(tuple, header["options"])), header["machines"], 0, 0, True
rows = [(float(t[0]), {int(p.split(":")[0]): float(p.split(":")[1]) for p in t[1:]})
        for t in map(str.split, open(sys.argv[3])) if t]
assert report["model_checksum"] == checksum and report["data_hash"] == header["data_hash"], "not its model"
assert o["task"] in ("svc", "svr") and o.get("bias", "unpenalised") == "unpenalised" and not header["scaled_features"]
for m, stated in enumerate(report["machines"]):
    count, pair = machines["support"][m], [machines[s][m] for s in ("positive", "negative")]
    vectors = [arrays["support row"][v] for v in arrays["machine support"][at:at + count]]
    beta = dict(zip(vectors, arrays["machine coefficient"][at:at + count]))
    name = lambda c: float(header["classes"][c]) if c >= 0 else None
    side = (lambda y: 1 if y == name(pair[0]) else -1 if pair[1] < 0 or y == name(pair[1]) else None) \
        if o["task"] == "svc" else (lambda y: y)
    primal, dual = objectives(o, side, rows, kernel_of(header["kernel"]), beta, arrays["machine lambda"][lam])
    at, lam, slack = at + count, lam + machines["lambda"][m], 1e-9 * (abs(primal) + abs(dual))
    fits = stated["dual"] - slack <= dual <= primal <= stated["primal"] + slack and primal - dual <= stated["primal"] - stated["dual"] + slack
    print(stated["machine"], f"dual {dual:.12g} primal {primal:.12g}", "agrees" if fits else "DISAGREES")
    good = good and fits
sys.exit(0 if good and report["verdict"] == "true" else 1)
