"""Rules that keep out implausible product text: what a shop would not write although the grammar allows it.

They hold in every category. What fits only some products is in the lexicon.
"""

from collections.abc import Iterable
from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _mutually_exclusive(*groups: str) -> dict[str, frozenset[str]]:
    """Return every word of the groups with all the words that share a group with it."""
    exclusive: dict[str, frozenset[str]] = {}
    for group in map(_words, groups):
        for word in group:
            exclusive[word] = exclusive.get(word, frozenset()) | group
    return exclusive


# small products that are sold by the dozen
SOLD_BY_THE_DOZEN = _words(
    "holzschraube spanplattenschraube drahtstift spreizdübel unterlegscheibe sechskantmutter schraubhaken filzgleiter"
    " kabelbinder wandhaken bleistift buntstift textmarker kugelschreiber briefumschlag haftnotiz schulheft radiergummi"
    " teller suppenteller dessertteller müslischale tasse espressotasse becher untertasse weinglas sektglas bierglas"
    " wasserglas schnapsglas kuchengabel teelöffel steakmesser stoffserviette untersetzer platzset eierbecher"
    " teelichthalter weihnachtskugel glühbirne socke wundpflaster einmalhandschuh gehörschutzstöpsel waschlappen"
    " spucktuch lätzchen zündkerze"
)
# products that are sold in sets of two to four; no other product is
SOLD_IN_SETS = _words(
    "handtuch duschtuch badematte zahnputzbecher handtuchhalter haltegriff kissen kissenbezug zierkissen bettbezug"
    " spannbettlaken bettlaken stuhl hocker barhocker gartenstuhl nachttisch wandregal sessel klappstuhl isomatte"
    " trekkingstock karabiner packsack taschenlampe stirnlampe zeltlampe pendelleuchte wandleuchte tischlampe"
    " nachttischlampe einbaustrahler deckenstrahler solarleuchte wegeleuchte nachtlicht leuchtstoffröhre außenleuchte"
    " lichterkette unterbauleuchte vorhang gardine ösenschal schlaufenschal scheibengardine verdunkelungsvorhang"
    " thermovorhang raffhalter rollo plissee vase windlicht bilderrahmen kerzenständer duftkerze poster wandbild"
    " übertopf kugel figur puzzle kartenspiel springseil malbuch spielzeugauto plüschtier kreisel actionfigur"
    " handpuppe schnuller babyflasche fläschchen strampler shirt top langarmshirt poloshirt leggings unterhemd"
    " unterhose slip boxershorts retroshorts panty hüftslip taillenslip string bustier kniestrumpf füßling strumpfhose"
    " feinstrumpfhose mütze stirnband charm zehenring handyhülle panzerfolie kameraschutzlinse ladekabel eingabestift"
    " speicherkarte uhrenarmband druckerpatrone toner usb-stick netzwerkkabel hdmi-kabel gehäuselüfter regalbox"
    " standbox lautsprecherkabel klinkenkabel audio-adapter lautsprecherständer seife lippenbalsam handcreme"
    " gesichtsmaske nagellack küchenmesser kochlöffel schneidebrett messbecher rührschüssel auflaufform kastenform"
    " schüssel schale salatschüssel servierplatte tablett salzstreuer tischläufer dose notizbuch collegeblock"
    " skizzenblock tintenroller druckbleistift anspitzer lineal aktenordner sammelmappe klebestift umschlag ordner"
    " block heft futternapf kauknochen quietschspielzeug futterball schraubzwinge feile spachtel schraubendreher"
    " cutter stechbeitel scharnier winkelverbinder winkel vorhängeschloss möbelknopf türgriff türstopper möbelrolle"
    " schubladenschiene klebeband spanngurt rauchmelder gewindestange gasdruckfeder verlängerungskabel blumenkasten"
    " pflanzkübel rankgitter sonnenliege fahrradschlauch fahrradreifen bremsbelag pedal lenkergriff fußmatte sitzbezug"
    " scheibenwischerblatt bremsscheibe stoßdämpfer winterreifen alufelge radkappe sonnenblende lufterfrischer"
    " ölfilter kältekompresse mullbinde schlafmaske atemschutzmaske einlegesohle unterarmgehstütze verband hantel"
    " knieschoner fitnessband tennisschläger badmintonschläger tischtennisschläger trinkflasche turnbeutel"
    " einkaufstasche kleidersack"
)
# endings of accessories whose absence is not worth mentioning
MINOR_ACCESSORY_ENDINGS = (
    "karte", "anleitung", "anweisung", "aufkleber", "katalog", "broschüre", "heft", "urkunde", "hinweis", "blatt",
    "probe", "etikett", "sticker", "poster", "verpackung", "karton", "zettel", "liste", "zertifikat",
    "ratgeber", "tüte", "trockenmittel", "stopper", "band", "rolle", "säckchen", "anhänger",
)  # fmt: skip
# parts that every product of the kind has: worth mentioning only with an adjective
STANDARD_PARTS = _words(
    "seite uhrwerk zifferblatt klinge gehäuse schaft obermaterial docht schneide tischplatte sitzfläche borste ziffer"
    " tonarm plattenteller bügelsohle trommel kettenglied trittfläche unterseite rotorblatt sägeblatt bespannung cup"
    " ferse spiegelglas tischbein laufsohle nähfuß türanschlag"
)
# adjectives that name a color or its absence: the product has no other color
COLORED_ADJECTIVES = _words(
    "bunt farbenfroh zweifarbig vergoldet versilbert goldlackiert verchromt farblos durchsichtig halbtransparent"
)
# Two uses are combined only if both name persons, places or occasions: not "for guests but also for cakes".
PERSONS = _words(
    "allergiker asthmatiker anfänger fortgeschrittene einsteiger profis heimwerker zauberer angler jäger"
    " auszubildende meister babys kleinkinder kinder erwachsene damen herren männer"
    " frauen familie familien eltern mütter geschwister gäste besucher senioren grundschüler schulanfänger"
    " schüler studenten studierende diabetiker pflegekräfte bergwanderer brillenträger bücherwürmer langschläfer"
    " linkshänder seitenschläfer rückenschläfer gamer nutzer pendler hundebesitzer hobbyköche köche hobbyschwimmer"
    " sportler wassersportler vereinsspieler fliesenleger pflasterer tischler zimmerleute musikliebhaber"
    " uhrenliebhaber sammler liebhaber verliebte forscher kleckermäuse"
)
PLACES = _words(
    "bad gäste-wc balkon terrasse garten haus haushalt hof einfahrt einfahrten wege keller garage werkstatt"
    " kfz-werkstatt baustelle küche wohn- wohnzimmer esszimmer schlafzimmer kinderzimmer gästezimmer schlafräume"
    " eingangsbereich flur flure treppenhaus wohnungen altbauwohnungen ferienwohnungen büro büros homeoffice"
    " arztpraxen zuhause hotel gastronomie bühne proberaum studio schule verein kindergarten"
    " fitnessstudio park strand pool meer see schwimmbad wohnmobil fensterbank kaminsims"
)
OCCASIONS = _words(
    "alltag anlässe hochzeit hochzeiten partys gartenparty taufe abiball oktoberfest kindergeburtstag"
    " kindergeburtstage geburtstag muttertag schulanfang geburt einzug freizeit sport wettkampf training"
    " festivals reise reisen geschäftsreisen rucksackreisen flugreisen strandurlaub familienurlaub bergtouren touren"
    " wanderungen"
)
# units of counts, which "about" or "at least" does not go with
COUNTING_UNITS = _words("stück teile personen stufen gänge kanäle saiten tasten seiten blatt jahre")

# Groups of adjectives of which a product has one at most: they mean the same, or the opposite.
EXCLUSIVE_ADJECTIVES = _mutually_exclusive(
    "günstig preisgünstig preiswert erschwinglich reduziert exklusiv wertvoll gediegen",
    "kurz lang verkürzt bodenlang knielang knöchellang",
    "langärmelig kurzärmelig ärmellos",
    "gestreift kariert geblümt gepunktet geringelt gemustert einfarbig zweifarbig bunt farbenfroh",
    "eng locker figurbetont oversized luftig",
    "tailliert locker oversized",
    "elastisch dehnbar",
    "groß klein kompakt geräumig großräumig großzügig",
    "dünn warm mollig wattiert wärmend kühl",
    "weich hart mittelfest",
    "flauschig kuschelig kuschelweich gemütlich mollig anschmiegsam",
    "leicht schwer federleicht ultraleicht massiv vollmassiv",
    "zart schwer robust",
    "leise laut lautstark lautlos geräuscharm geräuschlos flüsterleise laufruhig",
    "rutschfest rutschsicher rutschhemmend",
    "griffig grifffest",
    "standfest standsicher kippsicher windstabil",
    "haltbar langlebig unverwüstlich unzerstörbar",
    "stabil robust solide handfest",
    "robust strapazierfähig unverwüstlich unzerstörbar",
    "wetterfest wetterbeständig witterungsbeständig witterungsfest",
    "wasserdicht wasserabweisend wasserfest spritzwasserfest spritzwassergeschützt",
    "lichtundurchlässig lichtdurchlässig halbtransparent durchsichtig blickdicht",
    "schlicht einfach minimalistisch dezent prunkvoll ausgefallen auffällig aufwendig extravagant außergewöhnlich",
    "schlicht verspielt extravagant prunkvoll",
    "elegant edel stilvoll schick flott leger lässig geschmackvoll gediegen",
    "rustikal ländlich modern skandinavisch orientalisch maritim nostalgisch antik klassisch zeitlos modisch",
    "weiblich feminin männlich",
    "energiesparend stromsparend sparsam",
    "leistungsstark leistungsfähig kraftvoll",
    "scharf rasiermesserscharf",
    "matt mattiert mattierend glänzend poliert schimmernd schillernd strahlend funkelnd",
    "faltbar klappbar zusammenklappbar anklappbar",
    "tragbar transportabel transportfreundlich",
    "belastbar tragfähig",
    "bruchsicher bruchfest",
    "stoßfest stoßsicher",
    "neuwertig generalüberholt wiederbefüllt",
    "bewährt erprobt",
    "praktisch nützlich funktional handlich",
    "hautfreundlich hautverträglich",
    "offen geschlossen abschließbar",
    "hochhackig flach",
    "knöchelhoch kniehoch",
    "flach tief hochrandig",
    "einreihig zweireihig",
    "mehrreihig dreireihig",
    "zweiläufig dreiläufig",
    "mechanisch batteriebetrieben solarbetrieben wiederaufladbar aufladbar",
    "kabellos kabelgebunden",
    "chromatisch diatonisch",
    "nichtfettend reichhaltig mattierend",
    "erfrischend belebend beruhigend",
    "parfümfrei duftend",
    "fest cremig",
    "farblos deckend hochpigmentiert",
    "rund kugelförmig konisch flach",
    "passgenau universell",
    "zierlich fein filigran massiv breit auffällig",
    "ausgezeichnet preisgekrönt erstklassig hochwertig",
    "präzise messgenau grammgenau",
    "ausbalanciert ausgewogen",
    "freistehend unterbaufähig",
    "zeitlos klassisch ausgefallen außergewöhnlich extravagant auffällig",
    "elegant edel rustikal ländlich",
    "edel einfach",
    "schlicht funkelnd strahlend",
    "multifunktional vielseitig",
    "ansprechend schick",
    "lustig unterhaltsam",
)

# A line that has a word on the left has none of those on the right.
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
    " minirock": ("knielang", "bodenlang"),
    " garten": ("wohn- und", "wohnzimmer", "schlafzimmer", "esszimmer", "eingangsbereich", "kaminsims", "kleine räume"),
    " küchen": ("wohn- und", "wohnzimmer", "schlafzimmer", "kinderzimmer", "flur ", "das bad"),
    " badezimmer": ("wohn- und", "kinderzimmer", "flur "),
    " kinderzimmer": ("wohn- und", "die küche", "das bad", "flur ", "büro"),
    " wohnzimmer": ("die küche", "das bad", "kinderzimmer"),
    " esszimmer": ("das bad", "kinderzimmer", "flur "),
    " schlafzimmer": ("wohn- und esszimmer", "eingangsbereich"),
    " flurk": ("wohn- und", "schlafzimmer"),
    " flurs": ("wohn- und",),
    " flurd": ("wohn- und", "das bad", "kinderzimmer"),
    "gastro-": ("haushalt", "kleine küchen"),
    "originalverpackt": ("verpackung",),
    "silikon": ("saugfähig",),
    "höchst": ("mindestens", "maximal"),
    "mindestens": ("gewicht :", "größe :", "breite :", "höhe :", "stärke :", "durchmesser :", "pegel :", "aufnahme :"),
}


# words of templates that actions, features or parts can have as well
TEMPLATE_WORDS = (
    "überzeugt ", "überzeugen ", "besticht ", "bietet ", "passt ", "eignet", "gefertigt", "leicht", "ideal",
    "empfehl", " hohe", " lange", " qualität", "richtige",
)  # fmt: skip
SHORT_LINE_LENGTH = 40  # characters; a shorter line has no room for a repetition


def repeats_template_word(text: str) -> bool:
    """Return whether a slot repeats a word of its template: ``überzeugt durch ... und überzeugt ...``."""
    return len(text) > SHORT_LINE_LENGTH and any(text.count(word) > 1 for word in TEMPLATE_WORDS)


def repeats_any(text: str, words: Iterable[str]) -> bool:
    """Return whether the text has a word with the stem of one of these words more than once."""
    text = f" {text}"
    return any(text.count(truncated_stem(word)) > 1 for word in words)


def truncated_stem(word: str) -> str:
    """Return a rough stem, the same for ``kratzfest`` and ``kratzer``: the first letters, or all of a short word."""
    return word[:5] if len(word) > 4 else f" {word}"


@cache
def shares_stem(one: str, other: str) -> bool:
    """Return whether two phrases name the same thing: ``für breite füße`` and ``für empfindliche füße``."""
    return not _truncated_stems(one).isdisjoint(_truncated_stems(other))


def _truncated_stems(text: str) -> frozenset[str]:
    return frozenset(truncated_stem(word) for word in text.split() if len(word) > 3)


@cache
def use_kind(use: str) -> str:
    """Return what a use names: ``place`` for ``für büro und werkstatt``; empty if it is neither of the three kinds."""
    named = {part.split()[-1] for part in use.split(" und ")}
    kinds = {"person": PERSONS, "place": PLACES, "occasion": OCCASIONS}
    return next((name for name, words in kinds.items() if named <= words), "")


def is_contradictory(text: str) -> bool:
    """Return whether a line contradicts itself: a product for men and for women, or for summer and for winter."""
    text = f" {text}"
    return any(one in text and any(other in text for other in others) for one, others in CONTRADICTIONS.items())
