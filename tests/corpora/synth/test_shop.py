"""The lines of the shop: within their limits, and fit for their product."""

from types import SimpleNamespace

from corpora.synth import lexicon, post_editing
from corpora.synth.products import occurs_in
from corpora.synth.random_stream import RandomStream
from corpora.synth.shop import MAX_TOKENS, Shop
from corpora.synth.templates import TEMPLATE_DIRECTORY, read_templates


def test_a_second_reference_stays_within_the_token_limit(monkeypatch):
    """A vendor's ``w /`` is one token more than ``with``."""

    def english(is_reversed, rng):
        return post_editing.vendor_english(f"with{' bag' * 24}", rng)

    product = SimpleNamespace(brand="")
    long = SimpleNamespace(english=english, german="mit tasche", record=product, length_class="x", category="bags")
    shop, rng = Shop(lexicon.load(), "training"), RandomStream("long lines")
    monkeypatch.setattr(shop, "draft", lambda rng: long)
    lines = [shop.line(rng) for _ in range(500)]
    assert all(len(text.split()) <= MAX_TOKENS for line in lines for text in line[:3])


def test_lines_of_a_category_respect_their_scope():
    shop, rng = Shop(lexicon.load(), "training"), RandomStream(3)
    scopes = {
        f"{category.identifier}: {line.german}": line.scope
        for category in lexicon.load().categories
        for line in category.lines
    }
    drafts = [shop.draft(rng) for _ in range(2000)]
    own = [(scopes[draft.template.name], draft) for draft in drafts if draft.template.name in scopes]
    assert len(own) > 100
    assert all(scope.admits(draft.record.product_type.head.lemma) for scope, draft in own)


def test_some_templates_occur_in_one_phase_only():
    names = {template.name for _, template in read_templates(TEMPLATE_DIRECTORY / "templates.txt")}
    dev, training = ({name for name in names if occurs_in(phase, "template", name)} for phase in ("dev", "training"))
    assert len(names) > 110
    assert len(dev - training) >= 3
    assert len(training - dev) >= 3
