"""Templates are compiled and read from files; what they do not allow is refused."""

import pytest

from corpora.synth.lexicon import load
from corpora.synth.lexicon.entries import GeneratorLexicon, Phrase
from corpora.synth.product_records import sample_record
from corpora.synth.random_stream import RandomStream
from corpora.synth.templates import (
    TEMPLATE_DIRECTORY,
    TextTemplateError,
    compile_template,
    from_category_line,
    read_templates,
)
from tests.corpora.synth.words import RED


def test_a_stronger_requirement_replaces_the_weaker():
    assert compile_template("test", "{feature product} {feature2word}", ["x"]).requirements == ("feature2",)
    assert compile_template("test", "{der padj part} {ein product}", ["x"]).requirements == ("singular", "padj")


def test_lines_of_a_category_can_have_numbers_and_colors(product_type):
    template = from_category_line("bedding", Phrase("bei {n:30..30} ° c , {color}", "at {n:30..30} ° c , {color}"))
    record = sample_record(product_type, GeneratorLexicon(colors=[RED]), template.requirements, RandomStream(1))
    template.fill_numbers(record, RandomStream(1))
    assert template.render_german(record) == "bei 30 ° c , rot"
    assert template.render_english(record, 0) == "at 30 ° c , red"


@pytest.mark.parametrize("german", ["{gadget}", "{ein}", "{pretty product}"])
def test_unknown_slots_are_refused(german):
    with pytest.raises(TextTemplateError, match="unknown slot"):
        compile_template("test", german, ["x"])


def test_english_cannot_name_what_the_german_does_not():
    with pytest.raises(TextTemplateError, match=r"'in \{colorword\}' names color, but the German does not"):
        compile_template("test", "{product}", ["in {colorword}"])


def test_templates_can_be_limited_to_categories(tmp_path):
    path = tmp_path / "templates.txt"
    path.write_text("[s]\na | a ; only=lamps,car\nb | b ; except=lamps\nc | c\n", "utf-8")
    assert [
        [category for category in ("lamps", "car", "toys") if template.scope.admits(category)]
        for _, template in read_templates(path)
    ] == [["lamps", "car"], ["car", "toys"], ["lamps", "car", "toys"]]


@pytest.mark.parametrize("name", ["templates.txt", "retail.txt"])
def test_the_scopes_of_templates_name_categories(name):
    known = {category.identifier for category in load().categories}
    for _, template in read_templates(TEMPLATE_DIRECTORY / name):
        assert template.scope.only | template.scope.excluded <= known, template.name


def test_a_mistake_is_reported_with_its_line(tmp_path):
    path = tmp_path / "templates.txt"
    path.write_text("[s]\n{product} | {product}\n{product}\n", "utf-8")
    with pytest.raises(TextTemplateError, match=r"templates.txt:3: has no English text"):
        read_templates(path)
    path.write_text("[s]\n{product} | {product} ; cats=lamps\n", "utf-8")
    with pytest.raises(TextTemplateError, match=r"templates.txt:2: unknown option cats"):
        read_templates(path)
