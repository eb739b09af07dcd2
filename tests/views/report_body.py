"""A view's text report from the legend on."""

from tfprof.views.show.tfprof_text import render_report


def render_body(tree):
    """The legend and one line per shown node."""
    return render_report(tree).partition("Profile:\n")[2]
