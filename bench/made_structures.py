"""Files for the structural tasks that have no public data at hand: made by a machine with noise, so that no task
is separable. Each function writes one file of `size` examples."""
import random


def alignment(path, size):
    """A string and its copy through substitutions and gaps, as they were made."""
    draw = random.Random(1)
    with open(path, "w") as out:
        for _ in range(size):
            top, bottom = "", ""
            while len(top) < 30:
                symbol = draw.choice("ACGT")
                kind = draw.random()
                if kind < 0.08:
                    top, bottom = top + symbol, bottom + "-"
                elif kind < 0.16:
                    top, bottom = top + "-", bottom + symbol
                elif kind < 0.3:
                    top, bottom = top + symbol, bottom + draw.choice("ACGT")
                else:
                    top, bottom = top + symbol, bottom + symbol
            out.write(f"{top}\n{bottom}\n\n")


def parse(path, size):
    """Trees drawn from a grammar in which phrases attach at random; many words have two tags."""
    draw = random.Random(2)
    words = {tag: [f"w{20 * k + j}" for j in range(30)] for k, tag in enumerate(("DT", "NN", "VB", "IN", "JJ"))}

    def leaf(tag):
        return f"({tag} {draw.choice(words[tag])})"

    def noun(depth):
        kind = draw.random()
        if depth > 0 and kind < 0.35:
            return f"(NP {noun(depth - 1)} (PP {leaf('IN')} {noun(depth - 1)}))"
        return f"(NP {leaf('DT')} {leaf('JJ')} {leaf('NN')})" if kind < 0.6 else f"(NP {leaf('DT')} {leaf('NN')})"

    def verb(depth):
        if depth > 0 and draw.random() < 0.4:
            return f"(VP {verb(depth - 1)} (PP {leaf('IN')} {noun(depth - 1)}))"
        return f"(VP {leaf('VB')} {noun(depth)})"

    with open(path, "w") as out:
        for _ in range(size):
            out.write(f"(S {noun(2)} {verb(2)})\n")


def plan(path, size):
    """Shortest paths on grids whose cells have costs, seen through noise."""
    draw = random.Random(3)
    cost, side = {".": 1.0, "~": 3.0, "^": 5.0, "%": 9.0}, 8
    with open(path, "w") as out:
        for _ in range(size):
            grid = [[draw.choice("...~~^%") for _ in range(side)] for _ in range(side)]
            price = [[cost[cell] * draw.uniform(0.6, 1.4) for cell in row] for row in grid]
            # Bellman and Ford from the last cell.
            best = {(side - 1, side - 1): (0.0, None)}
            for _ in range(side * side):
                for r in range(side):
                    for c in range(side):
                        for near in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                            if near not in best:
                                continue
                            through = best[near][0] + price[near[0]][near[1]]
                            if (r, c) not in best or through < best[r, c][0] - 1e-12:
                                best[r, c] = (through, near)
            at, steps = (0, 0), []
            while at is not None:
                steps.append(f"{at[0]},{at[1]}")
                at = best[at][1]
            out.write("grid\n" + "\n".join("".join(row) for row in grid) + "\npath " + " ".join(steps) + "\n")


def rows(draw, shift, size=6):
    return " ".join(f"{j + 1}:{draw.gauss(shift if j == 0 else 0, 1):.4f}" for j in range(size))


def collective(path, size, labels=2):
    """Grids of documents whose labels come in patches."""
    draw = random.Random(4)
    side = 4
    with open(path, "w") as out:
        for graph in range(1, size + 1):
            cut = draw.randrange(side + 1)
            for k in range(side * side):
                label = (k % side < cut) + (draw.random() < 0.1)
                out.write(f"{'abc'[label % labels]} qid:{graph} {rows(draw, label % labels)}\n")
            for k in range(side * side):
                if k % side + 1 < side:
                    out.write(f"edge {k + 1} {k + 2}\n")
                if k + side < side * side:
                    out.write(f"edge {k + 1} {k + side + 1}\n")


def clustering(path, size):
    """Sets of twelve items around three centres."""
    draw = random.Random(5)
    with open(path, "w") as out:
        for group in range(1, size + 1):
            for k in range(12):
                out.write(f"{'abc'[k % 3]} qid:{group} {rows(draw, 2.5 * (k % 3))}\n")
