"""Line charts as SVG, without anything but the standard library."""
import math
from html import escape

WIDTH, HEIGHT = 720, 430
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 40, 52


def color(place, count):
    """From dark blue to orange, so that the order of the lines can be seen."""
    share = place / max(1, count - 1)
    low, high = (23, 63, 120), (232, 119, 34)
    return "#%02x%02x%02x" % tuple(round(a + share * (b - a)) for a, b in zip(low, high))


def ticks(low, high, wanted=6):
    step = 10 ** math.floor(math.log10((high - low) / wanted))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= wanted:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def line_chart(path, title, x_label, y_label, series):
    """series: (name, points, dashed) each; points are (x, y) pairs."""
    xs = [x for _, points, _ in series for x, _ in points]
    ys = [y for _, points, _ in series for _, y in points]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    y0, y1 = y0 - 0.03 * (y1 - y0), y1 + 0.03 * (y1 - y0)

    def at(x, y):
        return (LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>']
    for y in ticks(y0, y1):
        _, place = at(x0, y)
        out.append(f'<path d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in ticks(x0, x1):
        place, _ = at(x, y0)
        out.append(f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 18}" '
                   f'text-anchor="middle">{x:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" '
               f'text-anchor="middle">{escape(x_label)}</text>'
               f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
               f'text-anchor="middle">{escape(y_label)}</text>')
    for place, (name, points, dashed) in enumerate(series):
        stroke = "#222" if dashed else color(place, len(series))
        line = " ".join("%.1f,%.1f" % at(x, y) for x, y in points)
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        out.append(f'<polyline points="{line}" fill="none" stroke="{stroke}" '
                   f'stroke-width="1.5"{dash}/>')
        row = TOP + 8 + 17 * place
        out.append(f'<path d="M{WIDTH - RIGHT + 12} {row}h22" stroke="{stroke}" '
                   f'stroke-width="2"{dash}/>'
                   f'<text x="{WIDTH - RIGHT + 40}" y="{row + 4}">{escape(name)}</text>')
    out.append("</svg>\n")
    path.write_text("\n".join(out))
