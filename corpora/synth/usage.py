"""What nobody says of a product, however well the words fit: rules of usage that hold in every category."""

from collections.abc import Iterable
from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _rivals(*groups: str) -> dict[str, frozenset[str]]:
    """Every word of the groups, with all that stand in a group with it."""
    rivals: dict[str, frozenset[str]] = {}
    for group in map(_words, groups):
        for word in group:
            rivals[word] = rivals.get(word, frozenset()) | group
    return rivals


# small things that are sold by the dozen
DOZENS = _words(
    "holzschraube spanplattenschraube drahtstift spreizdübel unterlegscheibe sechskantmutter schraubhaken filzgleiter"
    " kabelbinder wandhaken bleistift buntstift textmarker kugelschreiber briefumschlag haftnotiz schulheft radiergummi"
    " teller suppenteller dessertteller müslischale tasse espressotasse becher untertasse weinglas sektglas bierglas"
    " wasserglas schnapsglas kuchengabel teelöffel steakmesser stoffserviette untersetzer platzset eierbecher"
    " teelichthalter weihnachtskugel glühbirne socke wundpflaster einmalhandschuh gehörschutzstöpsel waschlappen"
    " spucktuch lätzchen zündkerze"
)
# what is sold in twos, threes and fours; of anything else, nobody buys a set
SETS = _words(
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
    " ferse spiegelglas tischbein laufsohle nähfuß türanschlag"
)
# what is colored already: no other color is said of it
TINTED = _words(
    "bunt farbenfroh zweifarbig vergoldet versilbert goldlackiert verchromt farblos durchsichtig halbtransparent"
)
# two uses stand beside each other only if both name persons, places or occasions, not "for guests but also for cakes"
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
# units of exact numbers, of which nobody says "about" or "at least"
PIECES = _words("stück teile personen stufen gänge kanäle saiten tasten seiten blatt jahre")

# of the adjectives in a row, a product is called one only: they say the same, or the opposite
RIVALS = _rivals(
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


# what templates say themselves and actions, features or parts may say as well
ECHOES = (
    "überzeugt ", "überzeugen ", "besticht ", "bietet ", "passt ", "eignet", "gefertigt", "leicht", "ideal",
    "empfehl", " hohe", " lange", " qualität", "richtige",
)  # fmt: skip
BRIEF = 40  # letters of a line with no room for both


def stutters(text: str) -> bool:
    """Whether a template would say what its slots say: ``überzeugt durch ... und überzeugt ...``."""
    return len(text) > BRIEF and any(text.count(word) > 1 for word in ECHOES)


def echoes(text: str, words: Iterable[str]) -> bool:
    """Whether the text says one of its own words a second time."""
    text = f" {text}"
    return any(text.count(root(word)) > 1 for word in words)


def root(word: str) -> str:
    """What ``kratzfest`` and ``kratzer`` share; a short word is kept whole."""
    return word[:5] if len(word) > 4 else f" {word}"


@cache
def overlap(one: str, other: str) -> bool:
    """Whether two phrases name the same thing: ``für breite füße`` and ``für empfindliche füße``."""
    return not _roots(one).isdisjoint(_roots(other))


def _roots(text: str) -> frozenset[str]:
    return frozenset(root(word) for word in text.split() if len(word) > 3)


@cache
def kind(use: str) -> str:
    """What all that a use names is, as in ``für büro und werkstatt``; nothing if it is neither of these."""
    named = {part.split()[-1] for part in use.split(" und ")}
    kinds = {"person": PERSONS, "place": PLACES, "occasion": OCCASIONS}
    return next((name for name, words in kinds.items() if named <= words), "")


def contradicts(text: str) -> bool:
    """Whether a product would be for men and for women, or for summer and for winter."""
    text = f" {text}"
    return any(one in text and any(other in text for other in others) for one, others in CONTRADICTIONS.items())
