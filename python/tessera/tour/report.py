# SPDX-License-Identifier: Apache-2.0
"""The tour's one-page report: pictures, table and roofline in one HTML file that needs no network."""

from __future__ import annotations

import base64
import html
import io
import pathlib
import platform
from collections.abc import Sequence

import numpy as np

from .measure import Result, Roofs
from .picture import CREDIT

__all__ = ["HEADINGS", "row", "write"]

HEADINGS = ("kernel", "device", "first call ms", "time", "rate", "of roof", "NumPy", "max error")


def _duration(seconds: float) -> str:
    if seconds != seconds:
        return "not run"
    return f"{seconds * 1e6:,.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms"


def row(r: Result) -> tuple[str, ...]:
    """One line of the table, as text."""
    return (
        r.name, r.device, f"{r.first_ms:,.1f}", _duration(r.seconds), r.rate, f"{r.of_roof * 100:.0f} %",
        _duration(r.numpy_seconds), f"{r.error:.1e}" + ("" if r.ok else " WRONG"),
    )  # fmt: skip


def _roofline(results: Sequence[Result], roof: Roofs) -> str:
    """The roofline of Williams, Waterman and Patterson (2009) as SVG text."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    intensity = np.logspace(-2, 4, 200)
    axes.loglog(intensity, np.minimum(intensity * roof.bandwidth, roof.flops), color="#444")
    axes.axhline(roof.flops, color="#bbb", linewidth=0.8)
    for r in results:
        if r.flops:
            axes.loglog(r.flops / r.bytes, r.flops / r.seconds * 1e-9, "o", label=r.name)
    axes.set_xlabel("flop per byte")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(
        f"copy {roof.bandwidth:,.1f} GB/s, {roof.flops_source} {roof.flops:,.0f} GFLOP/s"
    )
    axes.legend(fontsize=8, loc="lower right")
    axes.grid(True, which="both", linewidth=0.2)
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg")
    pyplot.close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def _picture(path: pathlib.Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    name = html.escape(path.stem)
    return f'<figure><img src="data:image/png;base64,{data}" alt="{name}"><figcaption>{name}</figcaption></figure>'


def write(
    path: pathlib.Path,
    results: Sequence[Result],
    roof: Roofs,
    photo: tuple[Sequence[pathlib.Path], float],
    program: tuple[pathlib.Path, float],
) -> None:
    """Writes the report to ``path``."""
    (pictures, error), (reaction, program_error) = photo, program
    head = "".join(f"<th>{html.escape(h)}</th>" for h in HEADINGS)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row(r)) + "</tr>" for r in results
    )
    machine = html.escape(
        f"{platform.machine()}, {platform.platform()}, Python {platform.python_version()}"
    )
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>Tessera tour</title><style>"
        "body{font:15px/1.5 sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
        "table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:right;"
        "border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}"
        "figure{display:inline-block;margin:.5rem;width:30%}img,svg{width:100%;height:auto}</style>"
        f"<h1>Tessera tour</h1><p>{machine}</p>"
        f"<h2>A photograph, filtered by tile kernels</h2>{''.join(map(_picture, pictures))}"
        f"<p>{html.escape(CREDIT)}. Greatest error against float64: {error:.1e}.</p>"
        f"<h2>A NumPy program, one import changed</h2>{_picture(reaction)}"
        "<p>tessera.tour.gallery.reaction: Gray and Scott's two substances, some thirty operations a step. "
        f"Greatest difference to NumPy: {program_error:.1e}.</p>"
        f"<h2>Kernels</h2><table><tr>{head}</tr>{body}</table>"
        "<p>Times are medians; errors are |found - wanted| / (1 + |wanted|) against float64 on sampled rows. "
        f"Roofs measured in this run: copy {roof.bandwidth:,.1f} GB/s; {html.escape(roof.flops_source)} "
        f"{roof.flops:,.0f} GFLOP/s.</p><h2>Roofline</h2>{_roofline(results, roof)}",
        encoding="utf-8",
    )
