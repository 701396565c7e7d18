"""Small SVG line plots, without any library.

    panel = Panel("title", "x label", "y label", log_x=True, log_y=True)
    panel.line("name", [(x, y), ...], marks=True)
    write_svg("file.svg", [panel, ...])          one below the other
"""
import math
from html import escape

COLOURS = ["#1f5fa8", "#c8501e", "#2b8a3e", "#8a4fa8", "#a87b1e", "#4f7f8a", "#666666"]
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 30, 44


class Panel:
    def __init__(self, title, x_label, y_label, log_x=False, log_y=False, height=HEIGHT):
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.log_x, self.log_y, self.height = log_x, log_y, height
        self.lines, self.levels, self.places = [], [], []

    def line(self, name, points, marks=False, dashed=False, colour=None):
        keep = [(x, y) for x, y in points
                if (x > 0 or not self.log_x) and (y > 0 or not self.log_y)]
        colour = COLOURS[len(self.lines) % len(COLOURS)] if colour is None else COLOURS[colour]
        self.lines.append((name, keep, marks, dashed, colour))

    def level(self, y):
        """A thin line across, for a threshold."""
        self.levels.append(y)

    def place(self, x):
        """A thin line upright, for an event."""
        self.places.append(x)


def _ticks(low, high, log):
    if log:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        step = max(1, math.ceil((last - first) / 7))
        return [10.0 ** e for e in range(first, last + 1, step)]
    raw = (high - low) / 6
    unit = 10 ** math.floor(math.log10(raw))
    step = min((k * unit for k in (1, 2, 5, 10)), key=lambda s: abs(s - raw))
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _label(value, log):
    if log and not 0.001 <= value < 1000:
        return f'10<tspan dy="-4" font-size="9">{round(math.log10(value))}</tspan>'
    return f"{value:,.10g}"


def _axis(values, log):
    low, high = min(values), max(values)
    if log:
        return low / 1.15, high * 1.15
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1
    return low - room, high + room


def _draw(panel, top):
    points = [p for _, line, *_ in panel.lines for p in line]
    x0, x1 = _axis([x for x, _ in points], panel.log_x)
    y0, y1 = _axis([y for _, y in points] + panel.levels, panel.log_y)
    below, above = top + panel.height - BOTTOM, top + TOP

    def spot(value, low, high, log, begin, end):
        share = (math.log(value / low) / math.log(high / low) if log
                 else (value - low) / (high - low))
        return begin + share * (end - begin)

    def at_x(x):
        return spot(x, x0, x1, panel.log_x, LEFT, WIDTH - RIGHT)

    def at_y(y):
        return spot(y, y0, y1, panel.log_y, below, above)

    out = [f'<text x="{LEFT}" y="{top + 18}" font-weight="bold">{escape(panel.title)}</text>']
    for x in _ticks(x0, x1, panel.log_x):
        out.append(f'<path class="g" d="M{at_x(x):.1f} {above}V{below}"/><text class="m" x="{at_x(x):.1f}" '
                   f'y="{below + 15}">{_label(x, panel.log_x)}</text>')
    for y in _ticks(y0, y1, panel.log_y):
        out.append(f'<path class="g" d="M{LEFT} {at_y(y):.1f}H{WIDTH - RIGHT}"/><text class="e" '
                   f'x="{LEFT - 6}" y="{at_y(y) + 4:.1f}">{_label(y, panel.log_y)}</text>')
    for y in panel.levels:
        out.append(f'<path class="t" d="M{LEFT} {at_y(y):.1f}H{WIDTH - RIGHT}"/>')
    for x in panel.places:
        out.append(f'<path class="t" d="M{at_x(x):.1f} {above}V{below}"/>')
    middle = (above + below) / 2
    out.append(f'<text class="m" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{below + 32}">{escape(panel.x_label)}'
               f'</text><text class="m" x="14" y="{middle}" transform="rotate(-90 14 {middle})">'
               f'{escape(panel.y_label)}</text>')
    named = 0
    for name, line, marks, dashed, colour in panel.lines:
        if not line:
            continue
        path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in line)
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        out.append(f'<path fill="none" stroke="{colour}" stroke-width="1.5"{dash} d="M{path}"/>')
        if marks:
            out.extend(f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.5" fill="{colour}"/>'
                       for x, y in line)
        if name:
            y = above + 14 + 14 * named
            out.append(f'<path stroke="{colour}" stroke-width="2"{dash} d="M{LEFT + 8} {y - 4}h18"/>'
                       f'<text x="{LEFT + 31}" y="{y}">{escape(name)}</text>')
            named += 1
    return out


def write_svg(path, panels):
    out, top = [], 0
    for panel in panels:
        out += _draw(panel, top)
        top += panel.height
    style = (".g{stroke:#ddd}.t{stroke:#888;stroke-dasharray:2 3}.m{text-anchor:middle}.e{text-anchor:end}"
             "text{font:11px sans-serif;fill:#222}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" '
                   f'height="{top}"><style>{style}</style><rect width="100%" height="100%" fill="#fff"/>\n'
                   + "\n".join(out) + "\n</svg>\n")
