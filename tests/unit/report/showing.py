"""Documents as people see them: words of the terminal and of the page, without blanks and tags."""

import html
import io
import re

from rich.console import Console

from discreet.report.render_html import page_of
from discreet.report.render_terminal import WIDTH, print_document


def terminal_lines(document, width=WIDTH, **options):
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, emoji=False, markup=False)
    print_document(console, document, **options)
    return stream.getvalue()


def terminal_words(document, **options):
    return " ".join(terminal_lines(document, **options).split())


def page_words(document):
    page = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", page_of(document), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
