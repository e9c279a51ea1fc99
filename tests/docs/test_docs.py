"""The pages say what the code says. All but the last test are pure and fast."""

from __future__ import annotations

import ast
import re
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from docs import generate
from headwater import config
from headwater.cli.verbs import VERBS
from headwater.define import properties
from headwater.define.codes import CODES
from headwater.define.parse import parse
from headwater.store.views import ViewState
from headwater.vocabulary.reasons import REASON_GROUPS, REASONS
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Policy, Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = (README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))
CODE = sorted((ROOT / "headwater").rglob("*.py"))
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_REASON_MAKERS = {"Reason": 0, "NotLoweredError": 0, "_lost": 1}
_PROBLEM_MAKERS = {"error", "warning", "Remark", "refused", "NameProblem"}


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


# --- the generated page -------------------------------------------------------------------------


def test_the_errors_page_is_up_to_date() -> None:
    """docs/errors.md is what `make docs` would write now."""
    assert page("errors.md") == generate.errors_page(), "run `make docs`"


@pytest.mark.parametrize("error", generate.error_classes(), ids=generate.code_of)
def test_every_error_is_documented(error: type) -> None:
    """Each error has a number of its own, a sentence, a next step, and advice for operators."""
    numbers = [each.number for each in generate.error_classes()]
    assert numbers.count(error.number) == 1
    assert (error.__doc__ or "").strip().endswith(".")
    assert generate.advice_on(error)
    assert f"| {error.number} | `{generate.code_of(error)}` |" in page("errors.md")
    assert f"`{generate.code_of(error)}`" in page("operations.md")


def test_advice_stands_in_only_where_a_class_has_none() -> None:
    """A hint is said once: in the class, or in the generator."""
    without = {generate.code_of(e) for e in generate.error_classes() if not e.hint}
    assert set(generate.ADVICE) == without


# --- codes in the code --------------------------------------------------------------------------


def calls(names: set[str]) -> Iterator[tuple[str, ast.Call]]:
    """Every call of these functions in the package, with the place it stands at."""
    for file in CODE:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in names:
                    yield f"{file.relative_to(ROOT)}:{node.lineno} {called}", node


def literal(node: ast.Call, position: int) -> str | None:
    if len(node.args) <= position:
        return None
    found = node.args[position]
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else None


def test_every_reason_code_is_documented() -> None:
    """Whatever code a Reason, or a part kept as text, is made with has a sentence."""
    unknown, seen = [], set()
    for place, node in calls(set(_REASON_MAKERS)):
        code = literal(node, _REASON_MAKERS[place.rsplit(" ", 1)[1]])
        seen.add(code)
        if code is not None and code not in REASONS:
            unknown.append(f"{place} {code}")
    assert len(seen) > 50, "the search finds nothing any more"
    assert unknown == []


def test_reason_codes_inside_texts_are_documented() -> None:
    """Codes that travel as the beginning of a text, as in "UNTYPED: ...", have a sentence too."""
    text = "\n".join(
        file.read_text("utf-8")
        for folder in ("plan", "define/lowering")
        for file in (ROOT / "headwater" / folder).rglob("*.py")
    )
    found = set(re.findall(r"""f?"([A-Z][A-Z_]{2,}): """, text))
    assert {"NOT_MERGEABLE", "ORDER_DEPENDENT", "UNTYPED"} <= found
    assert found <= REASONS.keys()


def test_no_reason_code_stands_in_two_groups() -> None:
    """A code means one thing."""
    assert sum(map(len, REASON_GROUPS.values())) == len(REASONS)
    assert all(sentence.endswith(".") for sentence in REASONS.values())


def test_every_problem_code_is_documented() -> None:
    """Whatever code a problem in a definition is made with has a sentence."""
    found = {
        literal(node, 0): place
        for place, node in calls(_PROBLEM_MAKERS)
        if re.fullmatch(r"[A-Z][A-Z_]+", literal(node, 0) or "")
    }
    assert len(found) > 20, "the search finds nothing any more"
    assert {code: place for code, place in found.items() if code not in CODES} == {}


# --- words that the pages must have -------------------------------------------------------------


@pytest.mark.parametrize("setting", config._SETTINGS, ids=lambda setting: setting.key)
def test_every_setting_is_documented(setting: config._Setting) -> None:
    """Key, environment variable and default stand in one row of the table."""
    defaults = {field.name: field.default for field in fields(config.Config)}
    group, _, name = setting.field.rpartition(".")
    default = getattr(defaults[group], name) if group else defaults[setting.field]
    shown = f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
    wanted = f"| `{setting.key}` | `{setting.variable}` | "
    (row,) = [line for line in page("operations.md").splitlines() if line.startswith(wanted)]
    if setting.key not in {"store", "warehouse"}:  # these two depend on the folder
        assert row.startswith(wanted + shown)


def test_every_other_variable_is_documented() -> None:
    """Variables that are no settings of a project are listed as well."""
    for variable in (*config._OTHER_VARIABLES, config._SPARK_MASTER, config._TEST_PREFIX):
        assert variable in page("operations.md")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_and_option_is_documented(verb: str) -> None:
    """Each verb has a chapter that names all its options, and a line in the README."""
    parser = ArgumentParser()
    import_module(f"headwater.cli.verbs.{verb}").options(parser)
    text = page("cli.md")
    chapter = re.search(rf"^## {verb}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert chapter is not None
    assert f"headwater {verb}" in chapter.group(1)
    general = text.partition("\n## ")[0]
    for action in parser._actions:
        for option in action.option_strings:
            assert option in chapter.group(1) or f"`{option}`" in general, option
    assert f"`headwater {verb}" in README.read_text("utf-8")


@pytest.mark.parametrize("word", [*Technique, *AttemptState, *ViewState], ids=str)
def test_every_technique_and_state_is_documented(word: str) -> None:
    """The concepts have a row for each."""
    assert f"\n| `{word}` |" in page("concepts.md")


@pytest.mark.parametrize("policy", Policy, ids=str)
def test_every_policy_is_documented(policy: Policy) -> None:
    """The concepts have a row for each, the SQL reference its keyword."""
    assert f"\n| `{policy.value.upper()}` |" in page("concepts.md")
    assert policy.value.upper() in page("sql.md")


def test_every_clause_is_documented() -> None:
    """The SQL reference has every clause of every statement."""
    sets = (properties.VIEW, properties.CONSUMER, *properties.SOURCE.values())
    for clause in {" ".join(words) for clauses in sets for words in clauses}:
        assert clause in page("sql.md"), clause


def test_pages_do_not_speak_of_columns_that_are_not_there() -> None:
    """The hidden columns of the concepts are those that a layout makes."""
    made = (ROOT / "headwater" / "plan" / "mergeable.py").read_text("utf-8")
    made += (ROOT / "headwater" / "plan" / "layout.py").read_text("utf-8")
    for name in re.findall(r"`__hw_(\w+?)_N`", page("concepts.md")):
        assert f"{name}_" in made or "{kind}_" in made, name


# --- examples and links -------------------------------------------------------------------------


def anchors(file: Path) -> set[str]:
    """The anchors that a page's headings get on the usual hosts."""
    titles = _HEADING.findall(re.sub(r"```.*?```", "", file.read_text("utf-8"), flags=re.DOTALL))
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_links_lead_somewhere(file: Path) -> None:
    """Every link inside the repository has a file, and a heading if it names one."""
    for link in _LINK.findall(file.read_text("utf-8")):
        if "://" in link:
            continue
        place, _, anchor = link.partition("#")
        target = (file.parent / place).resolve() if place else file
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_lists_every_page() -> None:
    """A page that nobody can find is no documentation."""
    linked = set(_LINK.findall(page("index.md")))
    below = {f.relative_to(ROOT / "docs").as_posix() for f in (ROOT / "docs").rglob("*.md")}
    assert below - linked == {"index.md"}


def test_sql_examples_parse() -> None:
    """Every SQL example is a statement that Headwater reads without a problem."""
    examples = [block for file in PAGES for block in blocks(file.read_text("utf-8"), "sql")]
    assert len(examples) > 5
    for example in examples:
        read = parse(example)
        assert (read.problems, bool(read.statements)) == ((), True), example


def test_settings_examples_are_accepted(tmp_path: Path) -> None:
    """Every TOML example is a file that Headwater takes."""
    examples = [block for file in PAGES for block in blocks(file.read_text("utf-8"), "toml")]
    assert examples
    for example in examples:
        tomllib.loads(example)
        (tmp_path / "headwater.toml").write_text(example, "utf-8")
        config.load_config(tmp_path, {}, {})


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_python_examples_compile(file: Path) -> None:
    """Every Python example is Python."""
    for example in blocks(file.read_text("utf-8"), "python"):
        compile(example, file.name, "exec")


def test_the_first_example_runs(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The README's example runs as it is in an empty folder, and does what the README says."""
    import headwater

    example = blocks(README.read_text("utf-8"), "python")[0]
    ours = partial(headwater.open, spark=spark.newSession())  # not a second Spark
    monkeypatch.setattr(headwater, "open", ours)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "example"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "merge 1 1"
    assert lines[-1] == "True"
