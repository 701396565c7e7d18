#!/usr/bin/python3
"""What the README of LIBSVM's Python interface shows, with the library that the library path leads
to, beside the same with Debian's LIBSVM. The results must be the same."""
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")


def made_data(rows, classes):
    """Points around the corners of a square, from a generator of our own."""
    state = 12345
    y, x = [], []
    for i in range(rows):
        label = i % classes
        point = {}
        for j in range(1, 5):
            state = (1103515245 * state + 12345) % 2 ** 31
            noise = state / 2 ** 31 - 0.5
            if j != 1 + i % 4:  # every row lacks a feature
                point[j] = round((label >> (j % 2)) % 2 + 1.2 * noise, 6)
        y.append(label + 1 if classes > 2 else 1 - 2 * label)
        x.append(point)
    return y, x


def quick_start(results):
    from svmutil import evaluations, svm_load_model, svm_predict, svm_read_problem, svm_save_model, \
        svm_train
    from svm import svm_parameter, svm_problem
    y, x = made_data(150, 3)
    with open("data", "w") as out:
        for label, point in zip(y, x):
            out.write(f"{label} " + " ".join(f"{j}:{v}" for j, v in point.items()) + "\n")
    y, x = svm_read_problem("data")
    m = svm_train(y[:100], x[:100], "-c 4 -e 0.00001")
    p_label, p_acc, p_val = svm_predict(y[100:], x[100:], m)
    results["labels"] = p_label
    results["accuracy"] = list(p_acc[:2])
    results["values"] = [v for row in p_val for v in row]
    results["shape"] = [m.get_svm_type(), m.get_nr_class(), m.get_nr_sv(), m.get_labels(),
                        m.is_probability_model(), len(m.get_SV()), len(m.get_sv_coef())]
    results["indices"] = m.get_sv_indices()
    results["first"] = [m.get_SV()[0], len(m.get_sv_coef()[0])]
    results["cross validation"] = svm_train(y, x, "-v 3")

    svm_save_model("saved", m)
    loaded = svm_load_model("saved")
    again, _, values = svm_predict(y[100:], x[100:], loaded)
    assert again == p_label and values == p_val, "a model that was saved and loaded is another"
    assert svm_load_model("nothing") is None
    open("broken", "w").write("svm_type c_svc\nnr_class 5\n")
    assert svm_load_model("broken") is None

    for dense in (True, False):
        small = ([[1, 0, 1], [-1, 0, -1]] if dense else [{1: 1, 3: 1}, {1: -1, 3: -1}])
        prob = svm_problem([1, -1], small)
        m = svm_train(prob, svm_parameter("-t 0 -c 4 -b 1"))
        p_label, _, p_val = svm_predict([1, -1], small, m, "-b 1")
        results[f"small {dense}"] = [p_label, [v for row in p_val for v in row]]
        gram = ([[1, 2, -2], [2, -2, 2]] if dense else [{0: 1, 1: 2, 2: -2}, {0: 2, 1: -2, 2: 2}])
        prob = svm_problem([1, -1], gram, isKernel=True)
        m = svm_train(prob, svm_parameter("-t 4 -c 4 -b 1"))
        p_label, _, p_val = svm_predict([1, -1], gram, m, "-b 1")
        results[f"precomputed {dense}"] = [p_label, [v for row in p_val for v in row]]

    m = svm_train(y, x, "-b 1 -e 0.00001")
    p_label, p_acc, p_val = svm_predict(y, x, m, "-b 1")
    results["probabilities"] = [v for row in p_val for v in row]
    results["evaluations"] = list(evaluations(y, p_label)[:2])
    m = svm_train([float(v) for v in y], x, "-s 3 -p 0.01 -b 1 -e 0.00001")
    p_label, p_acc, _ = svm_predict(y, x, m)
    results["regression"] = p_label
    results["noise"] = m.get_svr_probability()
    m = svm_train(y, x, "-s 2 -n 0.2 -e 0.00001")
    # Labels of rows on the boundary are anybody's guess.
    results["one class"] = [v for row in svm_predict(y, x, m)[2] for v in row]
    for wrong in ("-c 0", "-s 7", "-s 1 -n 2"):
        try:
            svm_train(y, x, wrong)
            results[wrong] = "taken"
        except ValueError as error:
            results[wrong] = str(error)


def every_type(results):
    """All five types by all of the library's functions for them."""
    from svmutil import svm_predict, svm_train
    for kind in range(5):
        # svm_predict of svmutil has room for a single value of nu-SVC.
        y, x = made_data(90, 2 if kind == 1 else 3)
        for kernel in range(4):
            # With a margin, and where the sigmoid is nearly definite: so the answer is unique.
            nu = 0.853 if kind == 1 and kernel in (0, 3) else 0.313
            shape = "-g 0.02 -r 0" if kernel == 3 else "-g 0.3 -r 0.1"
            options = f"-s {kind} -t {kernel} -n {nu} {shape} -e 0.000001 -w1 2 -w7 3 "
            m = svm_train(y, x, options)
            p_label, p_acc, p_val = svm_predict(y, x, m)
            values = [v for row in p_val for v in row]
            results[f"type {kind} {kernel}"] = [
                values, m.get_svm_type(), m.get_nr_class(), m.is_probability_model(),
                p_label if kind < 2 else [], list(p_acc[:2]) if kind != 2 else []]
        if kind == 2:
            continue
        options = f"-s {kind} -g 0.3 -n 0.31 -e 0.000001 "
        results[f"folds {kind}"] = svm_train(y, x, options + "-v 4")
        m = svm_train(y, x, options + "-b 1")
        p_label, _, p_val = svm_predict(y, x, m, "-b 1")
        results[f"probability {kind}"] = [
            m.is_probability_model(), m.get_svr_probability() if kind > 2 else 0.0,
            [v for row in p_val for v in row] if kind < 2 else [], p_label]


def low_level(results):
    from svm import gen_svm_nodearray, libsvm, svm_parameter, svm_problem
    prob = svm_problem([1, -1], [{1: 1, 3: 1}, {1: -1, 3: -1}])
    m = libsvm.svm_train(prob, svm_parameter("-c 4"))
    x0, _ = gen_svm_nodearray({1: 1, 3: 1})
    results["low level"] = libsvm.svm_predict(m, x0)


def with_scipy(results):
    import numpy
    import scipy.sparse
    # Debian's svm.py looks for NumPy's names in SciPy, which has dropped them.
    for name in ("arange", "asarray", "ascontiguousarray", "ctypeslib", "empty", "errstate",
                 "frombuffer", "ndarray", "where"):
        if not hasattr(scipy, name):
            setattr(scipy, name, getattr(numpy, name))
    from svmutil import svm_predict, svm_read_problem, svm_train
    y, x = svm_read_problem("data", return_scipy=True)
    assert scipy.sparse.issparse(x)
    m = svm_train(y[:100], x[:100, :], "-c 4 -e 0.00001")
    p_label, _, p_val = svm_predict(y[100:], x[100:, :], m)
    results["scipy"] = [list(p_label), [float(v) for v in numpy.ravel(p_val)]]
    m = svm_train(numpy.array([1.0, -1.0]), numpy.array([[1.0, 0, 1], [-1, 0, -1]]), "-t 0 -q")
    results["numpy"] = m.get_labels()


def run_all():
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        quick_start(results)
        every_type(results)
        low_level(results)
        with_scipy(results)
        os.chdir("/")
    libraries = [line.split()[-1] for line in open("/proc/self/maps") if "libsvm.so" in line]
    return results, sorted(set(libraries))


def near(one, other):
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(near(a, b) for a, b in zip(one, other))
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-3)
    return one == other


def results_with(environment):
    text = subprocess.run([sys.executable, __file__, "run"], env=environment, check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text.splitlines()[-1])


def main():
    if sys.argv[1:] == ["run"]:
        print("\n" + json.dumps(run_all()))
        return
    ours, our_library = results_with(dict(os.environ))
    theirs, their_library = results_with({**os.environ, "LD_LIBRARY_PATH": ""})
    assert our_library[0].startswith(os.environ["LD_LIBRARY_PATH"].split(":")[0]), our_library
    assert our_library != their_library
    wrong = [name for name in theirs if not near(ours.get(name), theirs[name])]
    for name in wrong:
        print(f"{name}:\n  ours   {str(ours.get(name))[:300]}\n  theirs {str(theirs[name])[:300]}")
    sys.exit(1 if wrong else print(f"{len(theirs)} results are the same"))


if __name__ == "__main__":
    main()
