"""
A population crosses an infeasible region
=========================================

The best feasible point lies on a small island, far from the large one on which nearly all feasible points of the box
lie, and the sea between them is infeasible. A search that prefers feasible points settles on the large island. PPS-DE
first *pushes*: it ignores the constraint and goes where the objective is small. Then it *pulls*: violations up to a
level epsilon count as none, and epsilon shrinks to 0, so that the nearest island is reached from outside.

.. image:: /pictures/crossing.svg
   :alt: A population leaves a feasible region, crosses an infeasible one and ends at a better optimum

This is the picture of the README, too, written by ``python docs/pictures.py``.
"""

import html

import numpy as np
from scipy.optimize import linear_sum_assignment

import ppsde

LOW, HIGH = np.array([-7.0, -3.5]), np.array([5.5, 3.5])
GOAL = (3.9, 1.4)  # where the objective is smallest, in the sea
LARGE = (-3.6, 0.0, 2.3, 2.7)  # centre and radii of the large island
SMALL = (3.7, -0.6, 0.18, 0.18)


def islands(x):
    """Distance to a goal, to be reached on one of two islands."""
    a, b = x
    f = (a - GOAL[0]) ** 2 + 0.8 * (b - GOAL[1]) ** 2
    large = np.hypot((a - LARGE[0]) / LARGE[2], (b - LARGE[1]) / LARGE[3]) - 1
    small = np.hypot(a - SMALL[0], b - SMALL[1]) - SMALL[2]
    return f, [min(large, small)], []


# %%
# The callback sees the population after each generation.

populations = []
result = ppsde.minimize(
    islands,
    [*zip(LOW, HIGH, strict=True)],
    method="pps-de",
    rng=4,
    callback=lambda now: populations.append(now.population),
)
switch = int(np.argmax(result.history["stage"] == 1))
closed = switch + int(np.argmax(result.history["epsilon"][switch:] == 0))
print(f"f {result.fun:.4f} at {result.x.round(3)}, feasible: {result.feasible}")
print(f"push for {switch} generations, epsilon is 0 after {closed}")

# %%
# How often does each rule of comparing points find the small island? Six seeds each:


def found(method):
    runs = [ppsde.minimize(islands, [*zip(LOW, HIGH, strict=True)], method=method, rng=seed) for seed in range(1, 7)]
    return sum(run.feasible and run.fun < 3 for run in runs)


for method, rule in (("pps-de", "push and pull"), ("shade", "feasible points first")):
    print(f"{method:7} {rule:22} {found(method)} of 6")

# %%
# The picture is an SVG file whose points are moved by CSS, without a script; readers who asked their system for less
# motion see its end. In a narrow window its words are larger.

WIDTH, HEIGHT, STRIP = 720, 403, 46
STYLE = """
.pp-card{fill:#f7f9fb}.pp-sea{fill:url(#pp-hatch)}.pp-line{fill:none;stroke:#8a97a5;stroke-width:1;opacity:.55}
.pp-hatch{stroke:#d55e00;stroke-opacity:.16}.pp-land{fill:#cfe8f7;stroke:#0072b2;stroke-width:1.6}
.pp-word{fill:#1f2a36;font:600 15px system-ui,sans-serif}.pp-small{fill:#44505d;font:13px system-ui,sans-serif}
.pp-bar{fill:#dfe5ea}.pp-push{fill:#d55e00}.pp-pull{fill:#0072b2}.pp-goal{fill:#1f2a36}
.pp-p{stroke:#fff;stroke-width:.8}
@media (prefers-color-scheme:dark){
.pp-card{fill:#10161d}.pp-line{stroke:#7f8d9b;opacity:.5}.pp-hatch{stroke:#ff9a4d;stroke-opacity:.2}
.pp-land{fill:#123a55;stroke:#56b4e9}.pp-word{fill:#eef3f7}.pp-small{fill:#b5c0ca}.pp-bar{fill:#26313c}
.pp-goal{fill:#eef3f7}.pp-p{stroke:#10161d}}
@media (max-width:480px){.pp-word{font-size:24px}.pp-small{font-size:21px}.pp-s{transform:translateX(27px)}
.pp-wide{display:none}}
"""
IN, OUT = "#0072b2", "#d55e00"  # feasible, infeasible; of the palette of Okabe and Ito


def pixels(x):
    """Return points of the box as pixels."""
    unit = (np.asarray(x) - LOW) / (HIGH - LOW)
    return np.stack([unit[..., 0] * WIDTH, (1 - unit[..., 1]) * HEIGHT], axis=-1)


def landscape():
    """Return the sea, the lines of equal objective and the islands."""
    per = WIDTH / (HIGH[0] - LOW[0])
    gx, gy = pixels(GOAL)
    parts = [f'<rect class="pp-sea" width="{WIDTH}" height="{HEIGHT}"/>']
    for cx, cy, rx, ry in (LARGE, SMALL):
        x, y = pixels((cx, cy))
        parts.append(f'<ellipse class="pp-land" cx="{x:.1f}" cy="{y:.1f}" rx="{rx * per:.1f}" ry="{ry * per:.1f}"/>')
    for level in (0.3, 1, 2.5, 5, 10, 16, 25, 38, 55, 75):
        rx, ry = per * level**0.5, per * (level / 0.8) ** 0.5
        parts.append(f'<ellipse class="pp-line" cx="{gx:.1f}" cy="{gy:.1f}" rx="{rx:.1f}" ry="{ry:.1f}"/>')
    parts.append(f'<path class="pp-goal" d="M{gx - 5:.1f} {gy:.1f}h10M{gx:.1f} {gy - 5:.1f}v10" stroke="#8a97a5"/>')
    return "".join(parts)


def matched(populations):
    """Return the points of every population in the order that makes the moves between them short, and their colours."""
    x, inside = [populations[0].x], [populations[0].feasible]
    for after in populations[1:]:
        far = ((x[-1][:, None] - after.x[None]) ** 2).sum(axis=2)
        rows = linear_sum_assignment(far)[1]
        x.append(after.x[rows])
        inside.append(after.feasible[rows])
    return np.array(x), np.array(inside)


def keyframes(name, values, ends=0.9):
    """Return a CSS animation through the values, which then stays at the last; equal neighbours are left out."""
    shown = [
        (k, value)
        for k, value in enumerate(values)
        if k in (0, len(values) - 1) or value != values[k - 1] or value != values[k + 1]
    ]
    steps = "".join(f"{100 * ends * k / (len(values) - 1):.3g}%{{{value}}}" for k, value in shown)
    return f"@keyframes {name}{{{steps}100%{{{values[-1]}}}}}"


class Animation:
    """An SVG that shows populations one after another."""

    def __init__(self, populations, epsilon, switch, every=2, seconds=14):
        pushed = np.unique(np.geomspace(1, switch, 24).astype(int))  # most of the way is made at the beginning
        chosen = [0, *pushed[:-1].tolist(), *range(switch, len(populations), every)]
        x, inside = matched([populations[k] for k in chosen])
        at = pixels(x)
        last = len(chosen) - 1
        pull = [k >= switch for k in chosen]
        rules, marks = [], []
        for i in range(x.shape[1]):
            moves = [
                f"transform:translate({a:.0f}px,{b:.0f}px);fill:{IN if f else OUT}"
                for (a, b), f in zip(at[:, i], inside[:, i], strict=True)
            ]
            rules.append(keyframes(f"pp{i}", moves))
            still = (
                f"transform:translate({at[-1, i, 0]:.0f}px,{at[-1, i, 1]:.0f}px);fill:{IN if inside[-1, i] else OUT}"
            )
            marks.append(f'<circle class="pp-p" r="4.6" style="{still};animation-name:pp{i}"/>')
        for name, shown in (("ppa", [not p for p in pull]), ("ppb", pull)):
            rules.append(keyframes(name, [f"opacity:{int(s)}" for s in shown]))
        rules.append(keyframes("ppc", [f"transform:scaleX({1 - k / last:.3f})" for k in range(last + 1)]))
        level = [epsilon[k] if p else np.nan for k, p in zip(chosen, pull, strict=True)]
        top = np.nanmax(level)
        rules.append(keyframes("ppd", [f"transform:scaleX({0 if np.isnan(e) else e / top:.3f})" for e in level]))
        moving = "@media (prefers-reduced-motion:no-preference){.pp-m,.pp-p{animation:"
        moving += f"{seconds}s linear infinite}}" + "".join(rules) + "}"
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + STRIP}" width="{WIDTH}" '
            f'height="{HEIGHT + STRIP}" role="img" aria-label="{html.escape(self.words)}">'
            f"<title>{html.escape(self.words)}</title><style>{STYLE}{moving}</style>"
            '<defs><pattern id="pp-hatch" width="9" height="9" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><path class="pp-hatch" d="M0 0v9" stroke-width="5"/></pattern>'
            f'<clipPath id="pp-clip"><rect width="{WIDTH}" height="{HEIGHT + STRIP}" rx="10"/></clipPath>'
            f'<clipPath id="pp-box"><rect width="{WIDTH}" height="{HEIGHT}"/></clipPath></defs>'
            f'<g clip-path="url(#pp-clip)"><rect class="pp-card" width="{WIDTH}" height="{HEIGHT + STRIP}"/>'
            f'<g clip-path="url(#pp-box)">{landscape()}</g>'
            '<text class="pp-small" x="168" y="206">feasible</text>'
            '<text class="pp-small" x="360" y="30">infeasible</text>'
            f"{''.join(marks)}{self.strip(switch, chosen)}</g></svg>"
        )

    words = "A population of points leaves a feasible region, crosses an infeasible one and ends at a better optimum"

    def strip(self, switch, chosen):
        """Return the line below: the stage, its meaning, how far the run is, and epsilon."""
        y = HEIGHT + 28
        share = WIDTH * sum(k < switch for k in chosen) / len(chosen)
        return (
            f'<g class="pp-m" style="opacity:0;animation-name:ppa"><text class="pp-word" x="16" y="{y}">Push</text>'
            f'<text class="pp-small pp-s" x="62" y="{y}">constraints are ignored, the objective decides</text></g>'
            f'<g class="pp-m" style="opacity:1;animation-name:ppb"><text class="pp-word" x="16" y="{y}">Pull</text>'
            f'<text class="pp-small pp-s" x="62" y="{y}">violations up to epsilon are forgiven, and it shrinks</text>'
            '<g class="pp-wide">'
            f'<rect class="pp-bar" x="440" y="{y - 11}" width="180" height="10" rx="5"/>'
            f'<rect class="pp-pull pp-m" x="440" y="{y - 11}" width="180" height="10" rx="5" '
            f'style="transform-origin:440px 0;transform:scaleX(0);animation-name:ppd"/>'
            f'<text class="pp-small" x="630" y="{y}">epsilon</text></g></g>'
            f'<rect class="pp-push" y="{HEIGHT}" width="{share:.0f}" height="4"/><rect class="pp-pull" x="{share:.0f}" '
            f'y="{HEIGHT}" width="{WIDTH - share:.0f}" height="4"/>'
            f'<rect class="pp-bar pp-m" y="{HEIGHT}" width="{WIDTH}" height="4" '
            f'style="transform-origin:{WIDTH}px 0;transform:scaleX(0);animation-name:ppc"/>'
        )

    def _repr_html_(self):
        return self.svg


end = min(closed + 15, len(populations) - 1)
animation = Animation(populations[: end + 1], result.history["epsilon"][: end + 1], switch)
animation

# sphinx_gallery_thumbnail_path = 'pictures/crossing.svg'
