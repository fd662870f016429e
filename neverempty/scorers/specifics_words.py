"""The words by which specifics are told apart: months, numbers, units and offers in many languages."""

from __future__ import annotations

import re
from typing import Final

_MONTH_NAMES: Final = (
    "january jan januar janvier enero gennaio janeiro января январь जनवरी يناير",
    "february feb februar février febrero febbraio fevereiro февраля февраль फरवरी फ़रवरी فبراير",
    "march mar märz mars marzo março марта март मार्च مارس",
    "april apr avril abril aprile апреля апрель अप्रैल أبريل ابريل",
    "may mai mayo maggio maio мая май मई مايو",
    "june jun juni juin junio giugno junho июня июнь जून يونيو",
    "july jul juli juillet julio luglio julho июля июль जुलाई يوليو",
    "august aug août agosto августа август अगस्त أغسطس اغسطس",
    "september sept sep septembre septiembre settembre setembro сентября сентябрь सितंबर सितम्बर سبتمبر",
    "october oct oktober octobre octubre ottobre outubro октября октябрь अक्टूबर अक्तूबर أكتوبر اكتوبر",
    "november nov novembre noviembre novembro ноября ноябрь नवंबर नवम्बर نوفمبر",
    "december dec dezember décembre diciembre dicembre dezembro декабря декабрь दिसंबर दिसम्बर ديسمبر",
)
MONTHS: Final = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
"""Names of months, lower case, and their numbers."""

_NUMBER_NAMES: Final = {
    2: "two zwei deux dos due dois duas दो do два две اثنان",
    3: "three drei trois tres tre três तीन teen три ثلاثة ثلاث",
    4: "four vier quatre cuatro quattro quatro चार chaar char четыре أربعة أربع",
    5: "five fünf cinq cinco cinque पांच पाँच paanch panch пять خمسة خمس",
    6: "six sechs seis sei छह छः chhah шесть ستة ست",
    7: "seven sieben sept siete sette sete सात saat семь سبعة سبع",
    8: "eight acht huit ocho otto oito आठ aath восемь ثمانية ثماني",
    9: "nine neun neuf nueve nove नौ девять تسعة تسع",
    10: "ten zehn dix diez dieci dez दस das десять عشرة عشر",
    11: "eleven elf onze once undici ग्यारह одиннадцать",
    12: "twelve zwölf douze doce dodici doze बारह двенадцать",
    20: "twenty zwanzig vingt veinte venti vinte बीस двадцать عشرون",
    30: "thirty dreißig trente treinta trenta trinta तीस тридцать ثلاثون",
    50: "fifty fünfzig cinquante cincuenta cinquanta पचास пятьдесят خمسون",
    100: "hundred hundert cien सौ сто مئة",
}
# Everyday words of another language, or of the same: read as numbers they would invent more than they find.
_NOT_NUMBERS: Final = frozenset({"do", "due", "das", "sei", "char", "once", "sept", "elf", "saat", "ست"})
NUMBER_WORDS: Final = {
    name: number
    for number, names in _NUMBER_NAMES.items()
    for name in names.split()
    if name not in _NOT_NUMBERS
}
"""Words for numbers, lower case, and what they count."""

HAN_NUMBERS: Final = {han: at for at, han in enumerate("两三四五六七八九十", 2)} | {"二": 2, "兩": 2}
HAN_NUMBER: Final = re.compile(
    r"(?<![一二三四五六七八九十第])([二两兩三四五六七八九十])(?=[个個点點時时人件室間间位名張张元円名])"
)
"""A number in a Chinese character, before a word that counts things."""


def _any(words: str) -> str:
    return "|".join(sorted((re.escape(word) for word in words.split()), key=len, reverse=True))


MONTH: Final = f"(?:{_any(' '.join(MONTHS))})(?![^\\W\\d_])"
NUMBER_WORD: Final = re.compile(rf"(?<!\w)(?:{_any(' '.join(NUMBER_WORDS))})(?![^\W_])", re.I)
_UNITS: Final = (
    "s ms sec secs second seconds min mins minute minutes hour hours hrs "
    "hr day days moment moments time times "
    "attempt attempts retry retries sekunde sekunden minuten stunde "
    "stunden tage tagen segundos minuto minutos "
    "hora horas días dias secondes seconde heure heures jours secondi "
    "minuti giorni ghante секунд секунды минут "
    "минуты минуту часа часов дней дня सेकंड मिनट घंटे घंटों दिन ثانية ثوان "
    "دقيقة دقائق ساعة ساعات أيام يوم يوما"
)
_CHOICES: Final = (
    "options option ways way choices things steps possibilities ideas reasons optionen möglichkeiten wege "
    "opciones formas possibilités opzioni modi opções варианта вариантов विकल्प तरीके"
)
_NUMBERS: Final = _any(" ".join(NUMBER_WORDS))
NOISE: Final = re.compile(
    r"\b(?:error|code|status|http|attempts?|retr(?:y|ies)|step|option)\W{0,3}(?:code\W{0,3})?\d{1,3}\b"
    rf"|(?<![\d.,:])(?:\d{{1,3}}[\s-]?|(?<!\w)(?:{_NUMBERS})[\s-])(?:{_any(_UNITS)})(?!\w)"
    r"|(?<![\d.,:])\d{1,3}\s?(?:秒|分(?:钟|鐘|間|後|后)|小时|小時|時間|天|日後|초|분|시간|つの|つ方法|种|種)"
    rf"|(?<!\w)(?:\d|{_NUMBERS})\s(?:{_any(_CHOICES)})(?!\w)"
    r"|\b24/7\b|\b9 to 5\b|\b(?:up to|at least|at most) \d{1,3}\b",
    re.I,
)
"""Digits that say nothing about what was asked for: waiting times, codes, numbers of choices."""

EXAMPLE: Final = re.compile(
    r"(?:\b(?:e\.g\.|for (?:example|instance)|(?:words|terms|something) like"
    r"|click|tap|press|z\. ?b\.|zum beispiel"
    r"|par exemple|por ejemplo|por exemplo|per esempio|klicken sie auf"
    r"|cliquez sur|например|जैसे)|例えば|例如|比如|예를 들어)"
    r"[^\n.!?。]{0,80}",
    re.I,
)
"""An example of what a user could give, or the name of a button."""

PLACEHOLDER: Final = re.compile(r"\[[^\W\d][^\[\]\d\n]{0,40}\](?!\()|<[^\W\d][\w ]{0,40}>|\{\{?[\w ]{1,40}\}")
"""A blank that nobody filled in."""

OFFER: Final = re.compile(
    r"\b(?:i(?:['’]ll|['’]d| can| could| will| would)|let me|please|if you"
    r"|you (?:can|could|may|might)|try|check"
    r"|open|go to|wait|most|usually|typically|generally|thanks?|sorry|hello"
    r"|have a|bitte|ich (?:kann|suche|sehe)"
    r"|por favor|puedo|sigo|puede|je (?:peux|cherche)|vous pouvez|posso|main phir|можете|могу|пожалуйста)\b"
    r"|कृपया|请|請|ください|يرجى|سأ",
    re.I,
)
"""A sentence about what the agent or the user could do, or about how things usually are."""

_UPPER: Final = "A-ZÀ-ÖØ-ÞА-ЯЁ"
_CAPITAL: Final = f"[{_UPPER}][a-zß-öø-ÿа-яё'’]{{1,30}}"
NAME: Final = re.compile(rf"(?<![\w'’]){_CAPITAL}(?: (?:& |of |de |von )?{_CAPITAL}){{0,4}}(?!\w)")
"""A run of capitalised words."""

BEFORE_NAME: Final = re.compile(r"\b(?:in|by|on|every|called|named|from) $")
"""What stands before a name of one word."""

_SENTENCE_STARTS: Final = (
    "a an the this that these those your our my his her its their you we "
    "they he she it i here there sure yes "
    "no please thanks thank sorry hello hi dear good great to for as at if "
    "in on of and or but der die das ihr "
    "ihre mein el la los las tu su le les votre il lo o os seu sua ваш ваша у"
)
NO_NAME: Final = frozenset(_SENTENCE_STARTS.split())
"""Words that begin a sentence in front of a name."""

TOMORROW: Final = re.compile(
    r"\b(?:tomorrow|today|yesterday|morgen|heute|demain|mañana|domani|amanhã|завтра|kal|aaj)\b"
    r"|明日|明天|내일|कल|غدا",
    re.I,
)
"""Words that move a date by a day."""
