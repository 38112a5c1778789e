"""What nobody says of a product, however well the words fit: rules of usage that hold in every category."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# small things that are sold by the dozen
DOZENS = _words(
    "holzschraube spanplattenschraube drahtstift spreizdübel unterlegscheibe sechskantmutter schraubhaken filzgleiter"
    " kabelbinder wandhaken bleistift buntstift textmarker kugelschreiber briefumschlag haftnotiz schulheft radiergummi"
    " teller suppenteller dessertteller müslischale tasse espressotasse becher untertasse weinglas sektglas bierglas"
    " wasserglas schnapsglas kuchengabel teelöffel steakmesser stoffserviette untersetzer platzset eierbecher"
    " teelichthalter weihnachtskugel glühbirne socke wundpflaster einmalhandschuh gehörschutzstöpsel waschlappen"
    " spucktuch lätzchen zündkerze"
)
# endings of accessories that nobody misses
PAPERS = (
    "karte", "anleitung", "anweisung", "aufkleber", "katalog", "broschüre", "heft", "urkunde", "hinweis", "blatt",
    "probe", "etikett", "sticker", "poster", "verpackung", "karton", "zettel", "liste", "zertifikat",
    "ratgeber", "tüte", "trockenmittel", "stopper", "band", "rolle", "säckchen", "anhänger",
)  # fmt: skip
# parts that all such products have: worth a word only with an adjective
PLAIN = _words(
    "seite uhrwerk zifferblatt klinge gehäuse schaft obermaterial docht schneide tischplatte sitzfläche borste ziffer"
    " tonarm plattenteller bügelsohle trommel kettenglied trittfläche unterseite rotorblatt sägeblatt bespannung cup"
    " ferse spiegelglas tischbein laufsohle nähfuß"
)
# what is colored already: no other color is said of it
TINTED = _words(
    "bunt farbenfroh zweifarbig vergoldet versilbert goldlackiert verchromt farblos durchsichtig halbtransparent"
)
# units of exact numbers, of which nobody says "about" or "at least"
PIECES = _words("stück teile personen stufen gänge kanäle saiten tasten seiten blatt jahre")

# of two words in one line, the product can be only one
CONTRADICTIONS = {
    "herren": ("damen", "kinder", "mädchen", "frauen", "baby"),
    "damen": ("kinder", "männer", "jungen", "baby"),
    "mädchen": ("jungen", "männer", "erwachsene"),
    "kinder": ("erwachsene", "ganze familie", "senioren", "büro", "größe 3", "größe 4", "größe : 3", "größe : 4"),
    "winter": ("sommer", "heiße tage", "warme tage"),
    "mini": ("xxl",),
    "weiblich": ("herren", "männer", " ihn "),
    "feminin": ("herren", "männer", " ihn "),
    "männlich": ("damen", "frauen", "blüten", "blumig"),
    "schlicht": ("ausgefallen", "auffällig", "aufwendig"),
    "einfach": ("ausgefallen", "aufwendig"),
    "sie und ihn": ("herren", "damen"),
}


# verbs of templates that some actions have as well
ECHOES = ("überzeugt", "besticht", "bietet", "passt", "überzeugen")


def stutters(text: str) -> bool:
    """Whether a verb would come twice: ``überzeugt durch ... und überzeugt ...``."""
    return any(text.count(f"{verb} ") > 1 for verb in ECHOES)


def contradicts(text: str) -> bool:
    """Whether a product would be for men and for women, or for summer and for winter."""
    return any(one in text and any(other in text for other in others) for one, others in CONTRADICTIONS.items())
