"""Small lexicons for tests."""

from pathlib import Path

SHOP = "[category]\nx | X | x\n[heads]\n"


def write_lexicon(home: Path, *, shop: str = SHOP, news: str = "", shifts: str = "") -> Path:
    for name in ("shop", "news"):
        (home / name).mkdir()
    (home / "shop" / "x.txt").write_text(shop, "utf-8")
    (home / "news" / "y.txt").write_text(news, "utf-8")
    (home / "shifts.txt").write_text(shifts, "utf-8")
    (home / "colors.txt").write_text("[colors]\nrot | red\n", "utf-8")
    (home / "brands.txt").write_text("[brands]\nNorsen\n", "utf-8")
    (home / "units.txt").write_text("[units]\ng | g | gram | gramm\n", "utf-8")
    return home
