"""Two small wordnets of our own, in the format of the published ones: an English one, and a French one that rests on it.

The French one has no relations: like those of the Open Multilingual Wordnet it takes them from another by shared concepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from pathlib import Path

# concept, part of speech, English words (with how often they were counted in this sense), French words, wider concept
CONCEPTS = """
entity       n  entity:9                             entité                    -
thing        n  thing:40,object:20                   chose,objet               entity
text         n  text:30,passage:9                    texte,passage             thing
summary      n  summary:12,abstract:3,sum_up:1       résumé,sommaire           text
list         n  list:25,listing:2                    liste                     text
report       n  report:22,account:5                  rapport,compte-rendu      text
answer       n  answer:30,reply:14,response:11       réponse                   text
question     n  question:31,query:4                  question                  text
error        n  error:14,mistake:11,fault:3          erreur,faute              thing
failure      n  failure:9                            échec                     error
slip         n  slip:3,lapsus:0                      lapsus                    error
label        n  label:9,tag:2                        étiquette                 thing
class        n  class:28,category:12                 classe,catégorie          thing
animal       n  animal:20,beast:4                    animal,bête               thing
dog          n  dog:33                               chien                     animal
puppy        n  puppy:3                              chiot                     dog
Rover        n  Rover:1                              Médor                     dog
cat          n  cat:18                               chat                      animal
vehicle      n  vehicle:12                           véhicule                  thing
car          n  car:40,auto:3,automobile:4           voiture,automobile        vehicle
cable_car    n  car:1,cable_car:1                    téléphérique              vehicle
city         n  city:35,metropolis:1                 ville,métropole           thing
town         n  town:21                              bourg                     thing
bank_money   n  bank:25                              banque                    thing
bank_river   n  bank:9,shore:7                       rive,berge                thing
polish       n  polish:4                             cire                      thing
act          v  act:20                               agir                      -
say          v  say:90,state:10,tell:20              dire,énoncer              act
summarise    v  summarize:6,resume:1,recap:0         résumer,récapituler       say
explain      v  explain:19,clarify:5                 expliquer                 say
list_up      v  list:8,enumerate:2                   énumérer,lister           say
find         v  find:60,discover:9,detect:4          trouver,découvrir         act
spot         v  spot:5                               repérer                   find
write        v  write:50,compose:8,indite:0          écrire,rédiger            act
sort         v  sort:9,classify:4                    trier,classer             act
check        v  check:20,verify:5                    vérifier,contrôler        act
brief        a  brief:14                             bref                      -
short        a  short:30                             court                     -
succinct     s  succinct:2,compact:4                 succinct                  -
correct      a  correct:12,right:31                  correct,juste             -
wrong        a  wrong:19                             faux                      -
important    a  important:33,significant:9           important                 -
carefully    r  carefully:12,with_care:1             soigneusement             -
quickly      r  quickly:14,rapidly:5,speedily:0      rapidement,vite           -
exactly      r  exactly:11,precisely:6               exactement                -
"""
SIMILAR = {"brief": ["short", "succinct"], "short": ["brief"], "succinct": ["brief"]}
HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">\n'


def concepts() -> list[tuple[str, str, list[tuple[str, int]], list[str], str]]:
    found = []
    for line in CONCEPTS.strip().splitlines():
        name, pos, english, french, wider = line.split()
        counted = [
            (word.rpartition(":")[0].replace("_", " "), int(word.rpartition(":")[2]))
            for word in english.split(",")
        ]
        found.append((name, pos, counted, french.split(","), wider))
    return found


def write_english(path: Path, *, version: str = "1", counts: bool = True) -> Path:
    known = concepts()
    words: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for name, pos, english, _, _ in known:
        for word, count in english:
            words.setdefault((word, pos), []).append((name, count))
    entries = []
    for number, ((word, pos), senses) in enumerate(words.items()):
        inner = "".join(
            f'<Sense id="tiny-{number}-{name}" synset="tiny-{name}-{kind(known, name)}">'
            + (f"<Count>{count}</Count>" if counts and count else "")
            + "</Sense>"
            for name, count in senses
        )
        entries.append(
            f'<LexicalEntry id="tiny-w{number}"><Lemma writtenForm={quoteattr(word)} partOfSpeech="{pos}"/>{inner}</LexicalEntry>'
        )
    narrower: dict[str, list[str]] = {}
    for name, _, _, _, wider in known:
        narrower.setdefault(wider, []).append(name)
    synsets = []
    for name, pos, _, _, wider in known:
        relations = [("hypernym", wider)] if wider != "-" else []
        relations += [("hyponym", each) for each in narrower.get(name, [])]
        relations += [("similar", each) for each in SIMILAR.get(name, [])]
        inner = "".join(
            f'<SynsetRelation relType="{kind_}" target="tiny-{other}-{kind(known, other)}"/>'
            for kind_, other in relations
        )
        synsets.append(f'<Synset id="tiny-{name}-{pos}" ili="i-{name}" partOfSpeech="{pos}">{inner}</Synset>')
    return _write(path, "tiny", "Tiny English", "en", version, "", entries, synsets)


def write_french(path: Path, *, requires: str = "tiny") -> Path:
    known = concepts()
    words: dict[tuple[str, str], list[str]] = {}
    for name, pos, _, french, _ in known:
        for word in french:
            words.setdefault((word, pos), []).append(name)
    entries = [
        f'<LexicalEntry id="petit-w{number}"><Lemma writtenForm={quoteattr(word)} partOfSpeech="{pos}"/>'
        + "".join(
            f'<Sense id="petit-{number}-{each}" synset="petit-{each}-{kind(known, each)}"/>'
            for each in senses
        )
        + "</LexicalEntry>"
        for number, ((word, pos), senses) in enumerate(words.items())
    ]
    synsets = [
        f'<Synset id="petit-{name}-{pos}" ili="i-{name}" partOfSpeech="{pos}"/>' for name, pos, *_ in known
    ]
    needs = f'<Requires id="{requires}" version="1"/>'
    return _write(path, "petit-fr", "Petit réseau français", "fr", "1", needs, entries, synsets)


def kind(known: list, name: str) -> str:
    return next(pos for each, pos, *_ in known if each == name)


def _write(
    path: Path, name: str, label: str, language: str, version: str, needs: str, entries, synsets
) -> Path:
    lexicon = (
        f'<Lexicon id="{name}" label="{label}" language="{language}" email="none@example.org" '
        f'license="https://creativecommons.org/publicdomain/zero/1.0/" version="{version}">{needs}\n'
    )
    body = "\n".join([*entries, *synsets])
    path.write_text(
        f"{HEADER}<LexicalResource>\n{lexicon}{body}\n</Lexicon>\n</LexicalResource>\n", encoding="utf-8"
    )
    return path
