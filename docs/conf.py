"""Settings of the site: `make docs` builds it with Sphinx, offline, and every warning is an error."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import ppsde
import ppsde.stats

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "_site"))

project = "ppsde"
author = "The ppsde developers"
copyright = "the ppsde developers, MIT licence"
version = release = ppsde.__version__

extensions = [
    "command_help",  # in docs/_site, as the next
    "source_pages",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_site", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.codeobj.json"]
nitpicky = True
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery

# Markdown. The pages are read on code hosts too, so they use little that is not plain Markdown.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # the site loads nothing from elsewhere
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# Docstrings.
default_role = "code"
autosummary_generate = True
autosummary_imported_members = True
autosummary_filename_map = {  # two files whose names differ by capitals alone are one on some systems
    f"ppsde.stats.{name}": f"ppsde.stats.{name}-class"
    for name in ppsde.stats.__all__
    if name.lower() != name and name.lower() in ppsde.stats.__all__
}
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": False}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_mock_imports = ["pymoo", "pygmo", "optuna"]
nitpick_ignore = [("py:class", "collections.abc.Mapping"), ("py:class", "scipy.optimize._optimize.OptimizeResult")]
nitpick_ignore_regex = [("py:class", r"(optuna|pymoo)\..*")]

# Appearance.
html_theme = "pydata_sphinx_theme"
html_title = "ppsde"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_site/static/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options: dict[str, Any] = {
    "logo": {"text": "ppsde", "image_light": "_static/icon.svg", "image_dark": "_static/icon.svg"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
templates_path = ["_site/templates"]
html_sidebars = {"index": [], "tutorial": [], "glossary": []}


def style_of_pictures(gallery: dict[str, Any], file: str) -> None:
    """Set the style of the pictures before each example; the same function is called by the gallery."""
    import matplotlib

    matplotlib.rcParams.update(
        {
            "figure.figsize": (7.2, 4.2),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": matplotlib.cycler(
                color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
            ),
            "legend.frameon": False,
            "font.size": 10,
        }
    )


sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "subsection_order": [f"../examples/gallery/{section}" for section in ("searches", "designs", "work")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_order.Order",
    "reset_modules": ("matplotlib", style_of_pictures),
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "min_reported_time": 5,
    "plot_gallery": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "notebook_images": True,  # a notebook that was downloaded has its pictures inside
    "nested_sections": False,
}
warnings.filterwarnings("ignore", message=".*non-interactive.*cannot be shown")


def link_pages_of_docs(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make links of the pages that docstrings name, such as docs/rules.md."""
    for k, line in enumerate(lines):
        lines[k] = re.sub(r"`*docs/([a-z0-9/-]+)\.md`*", r":doc:`/\1`", line)


# Words under which the index has a page, and the search finds it first: those that a newcomer may type.
WORDS_OF_PAGES = {
    "asynchronous": "async, asynchronous, asynchronous evaluations",
    "bridges": "scipy, pymoo, pygmo, optuna, differential_evolution",
    "choosing": "which method, choose a method, compare methods",
    "clusters": "cluster, slurm, dask, distributed",
    "experiments": "study, benchmark, compare algorithms",
    "extending": "own algorithm, custom algorithm, own suite, plugin",
    "howto/ask-and-tell": "ask and tell, own loop, batch of points",
    "howto/constraints": "constraints, equality, inequality, linear constraint, nonlinear constraints, infeasible, "
    "scaling",
    "howto/jax": "jax, gpu, cuda, compile, jit, many runs",
    "howto/known-points": "x0, initial guess, starting point, warm start, initial population, "
    "seed population, previous results",
    "howto/objective": "maximize, maximise, args, extra arguments, vectorized, variable names, extra parameters",
    "howto/resume": "checkpoint, resume, restart, interrupt, keyboard interrupt, save progress",
    "howto/simulators": "parallel, parallel evaluations, workers, multiprocessing, subprocess, timeout, crash, "
    "exception, nan, failed evaluations, memory limit, nan objective, command line simulator, n_jobs, "
    "time limit per evaluation",
    "howto/small-budgets": "small budget, few evaluations, expensive function, slow objective, "
    "surrogate, bayesian optimization",
    "howto/stopping": "early stopping, stopping criterion, termination, target, target value, time limit, callback, "
    "tol, convergence, convergence tolerance, max time, stopiteration, stagnation",
    "howto/variables": "integer, mixed integer, discrete, discrete variables, categorical, choices, log scale, "
    "unbounded, infinite bounds, binary variable, log transform, whole numbers",
    "notebooks": "notebook, jupyter, ipython, plot result",
    "reports": "report, latex table, export",
}


def put_into_the_index(app: Any, doctree: Any) -> None:
    """Enter a page into the index under the words that are listed for it; they lead to its title."""
    from docutils import nodes
    from sphinx import addnodes

    if words := WORDS_OF_PAGES.get(app.env.docname):
        top = next(doctree.findall(nodes.section))
        entries = [("single", word, top["ids"][0], "main", None) for word in words.split(", ")]
        top.insert(1, addnodes.index(entries=entries))


def describe_pictures(app: Any, doctree: Any) -> None:
    """Describe the pictures of the gallery by the title of the example and their own, if they have one."""
    from docutils import nodes
    from sphinx_gallery.directives import imgsgnode

    name = app.env.docname.split("/")[-1].replace("_", " ")  # the description of pictures without a title
    for picture in doctree.findall(imgsgnode):
        title = next(doctree.findall(nodes.title)).astext()
        picture["alt"] = title if picture["alt"] == name else f"{title}: {picture['alt']}"


FILE = re.compile(r'^```(\w+) title="([^"]+)"$', re.M)


def show_names_of_files(app: Any, docname: str, source: list[str]) -> None:
    """Give a block of code that is a file its name as a caption."""
    source[0] = FILE.sub(r"```{code-block} \1\n:caption: \2\n", source[0])


def copy_the_notebook(app: Any) -> None:
    """Make the example notebook a page; the build executes it."""
    shutil.copyfile(ROOT / "examples" / "notebook.ipynb", DOCS / "notebook.ipynb")


def setup(app: Any) -> None:
    app.connect("builder-inited", copy_the_notebook)
    app.connect("source-read", show_names_of_files)
    app.connect("doctree-read", put_into_the_index)
    app.connect("doctree-read", describe_pictures)
    app.connect("autodoc-process-docstring", link_pages_of_docs, priority=100)
