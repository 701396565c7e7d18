#!/usr/bin/env python3
"""Writes a small scene in which there are three kinds of ground, for programs that classify pictures:

    scene.py FOLDER

two bands of 40 x 30 cells (band1, band2: SAGA's own grids), areas whose kind is known (areas.geojson), and points with
the values of both bands (points.geojson).
"""
import json
import os
import random
import struct
import sys

WIDTH, HEIGHT = 40, 30
CENTRES = {1: (0.2, 0.3), 2: (0.7, 0.6), 3: (0.4, 0.9)}


def kind(x, y):
    return 1 if x < WIDTH / 2 and y < HEIGHT / 2 else 2 if x >= WIDTH / 2 else 3


def write_grid(path, name, values):
    with open(path + ".sgrd", "w") as file:
        file.write(f"NAME\t= {name}\nDATAFORMAT\t= FLOAT\nBYTEORDER_BIG\t= FALSE\nPOSITION_XMIN\t= 0.5\n"
                   f"POSITION_YMIN\t= 0.5\nCELLCOUNT_X\t= {WIDTH}\nCELLCOUNT_Y\t= {HEIGHT}\nCELLSIZE\t= 1.0\n"
                   "Z_FACTOR\t= 1.0\nNODATA_VALUE\t= -99999.0\nTOPTOBOTTOM\t= FALSE\n")
    with open(path + ".sdat", "wb") as file:
        file.write(struct.pack(f"<{len(values)}f", *values))


def write_features(path, features):
    with open(path, "w") as file:
        json.dump({"type": "FeatureCollection", "features": features}, file)


def feature(shape, coordinates, properties):
    return {"type": "Feature", "geometry": {"type": shape, "coordinates": coordinates},
            "properties": properties}


def main():
    folder = sys.argv[1]
    rng = random.Random(1)
    cells = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]
    bands = [[CENTRES[kind(x, y)][b] + rng.gauss(0, 0.15) for x, y in cells] for b in (0, 1)]
    for b in (0, 1):
        write_grid(os.path.join(folder, f"band{b + 1}"), f"band{b + 1}", bands[b])
    areas = []
    for left, bottom in ((3, 3), (25, 12), (5, 20), (30, 3)):
        right, top = left + 7, bottom + 6
        ring = [[left, bottom], [left, top], [right, top], [right, bottom], [left, bottom]]
        areas.append(feature("Polygon", [ring], {"class": kind(left, bottom)}))
    write_features(os.path.join(folder, "areas.geojson"), areas)
    chosen = rng.sample(range(len(cells)), 300)
    write_features(os.path.join(folder, "points.geojson"),
                   [feature("Point", list(cells[i]),
                            {"class": kind(*cells[i]), "band1": round(bands[0][i], 4),
                             "band2": round(bands[1][i], 4)}) for i in chosen])


if __name__ == "__main__":
    main()
