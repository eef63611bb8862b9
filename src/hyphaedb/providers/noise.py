"""What agents write that is no knowledge: politeness, self-talk, offers, questions, tool output.

The lists come from reading logs of agents at work. They err on the side of dropping: a statement
that is lost here is said again if it mattered, while a mesh full of "Let me check the file" buries
what matters and sends it to others.
"""

from __future__ import annotations

import re
from typing import Final

WORDS_MIN: Final = 4
"""Fewer words hardly ever name a thing and say something about it."""

_LETTERS_MIN: Final = 0.6
"""Share of letters and spaces; below it stand paths, hashes, numbers and code."""

_POLITE: Final = re.compile(
    r"^(?:hi|hello|hey|dear|thanks?|thank you|welcome|congratulations|great|good (?:job|work|point)"
    r"|excellent|perfect|awesome|well done|sure|certainly|of course|absolutely|got it|sounds good"
    r"|no problem|you're (?:right|welcome)|you are (?:right|welcome)|yes|no worries|okay|ok|alright"
    r"|sorry|apologies|i apologi[sz]e|my apologies|best regards|kind regards|cheers|understood"
    r"|i (?:agree|understand|see|hope|believe you)|glad|happy to)\b[\s,!.:;-]*",
    re.IGNORECASE,
)
#: What somebody did or found is news; what they are about to do is not.
_NEWS: Final = (
    r"(?: have| had)?(?: \w+ly)? (?:prefer|decided|chose|recommend|found|noticed|discovered|learned"
    r"|suggest|fixed|measured|moved|switched|changed|saw|disabled|enabled|raised|lowered|removed"
    r"|want\b|object\b)"
)
_SELF_TALK: Final = re.compile(
    r"^(?:(?:now|next|so|then|first|firstly|finally|also|and|but|therefore|thus|well|hmm+|wait"
    r"|alright|okay|ok|to (?:proceed|do (?:this|that|so)|continue|begin|start)|from here|for this"
    r"|in order to proceed|(?:with|given|based on) (?:this|that))\b[,:]?\s+)*"
    rf"(?:i(?:'|’)?(?:ll|m|d|ve)?\b(?!{_NEWS})|let me\b|let(?:'|’)s\b|let us\b"
    r"|we(?:(?:'|’)?ll| will) (?:now|start|begin|first|proceed|follow|then|need to (?:check|look))"
    r"|we (?:can|should|need to|must) (?:now |first |then |also )?(?:proceed|start|begin|check|look"
    r"|verify|see|try|examine|analy[sz]e|review|re-?run|confirm|follow|continue|consider|determine"
    r"|identify)|going to\b|here(?:'|’)?s\b|here (?:is|are)\b|below (?:is|are)\b|the following\b"
    r"|as an ai\b|allow me\b|moving on\b|looking (?:at|into)\b|proceeding\b|step \d)",
    re.IGNORECASE,
)
_ADDRESSED: Final = re.compile(
    r"\b(?:let me know|feel free|if you (?:have|need|want|would|could|prefer)|if there are any"
    r"|would you like|do you want|could you|can you|please (?:provide|share|confirm|reply|let"
    r"|note that|wait|review|solve|proceed|check|follow|make|try|ensure)|i (?:can|could) help"
    r"|happy to help|hope (?:this|that) helps|further (?:questions|assistance)|we appreciate"
    r"|reply (?:only )?\"?terminate|terminate|as requested|your (?:task|role|job|answer) is"
    r"|you are (?:given|an?|the)\b|you will be|your (?:next|previous) (?:step|message|response)"
    r"|previous (?:message|instructions?|response|code)|above instructions"
    r"|by following (?:these|the) steps|(?:these|the above|following) (?:steps"
    r"|changes) (?:will|should"
    r"|ensure)|(?:this|these) (?:change|changes|modification|modifications|update|updates) "
    r"(?:will|should) (?:ensure|allow|make|help|fix)|here's|i've (?:added|updated|fixed"
    r"|modified))\b",
    re.IGNORECASE,
)
_OUTPUT: Final = re.compile(
    r"^(?:exit ?code\b|code output\b|output:|stdout|stderr|traceback\b|file \"|at [\w.$]+\(|>>>|\$ "
    r"|#!|---|\+\+\+|@@|\w+(?:error|exception|warning): |collecting |downloading "
    r"|requirement already"
    r"|successfully installed|note: you may need|npm (?:err|warn)|warning: |error: |info: |debug: "
    r"|\[?\d{4}-\d\d-\d\d[t ]\d\d:\d\d|\d\d:\d\d:\d\d|<\?xml|<!doctype|import \w|from \w+ import"
    r"|def \w+\(|class \w+[:(]|return\b|const |let \w+ =|var \w+ =|function \w+\(|select .* from "
    r"|\{|\[\{|address: https?:|title: |viewport position)",
    re.IGNORECASE,
)
#: A sentence that begins so tells somebody to do a step; only a cue makes it a rule or a task.
_IMPERATIVES: Final = """
add adjust analyze analyse apply ask assign break build calculate call change check choose click
close collect compare compile compute conduct confirm consider continue convert copy count create
define delete describe determine develop display double-check download draw edit ensure enter
evaluate examine execute explain explore extract fetch filter find finish fix focus follow gather
generate get give go handle identify implement import include inspect install instead investigate
join keep list load locate look make modify move navigate note obtain once open optimize output
parse pay perform pick place play prepare press print provide put read record refer refine remember
remove rename repeat replace report research retrieve return review rewrite run save scroll search
see select set share show simulate simply solve sort specify start store submit summarize summarise
switch take test track transform try type update upload use utilize utilise validate verify view
visit wait write
"""
IMPERATIVES: Final = frozenset(_IMPERATIVES.split())

#: Code and page furniture in the middle of what would pass for a sentence.
_FURNITURE: Final = re.compile(
    r"'''|\"\"\"|\bFILENAME:|\bDOCSTRING:|\bdef \w+\(|\bself\.\w+ ?=|\bclass \w+(?:\(\w*\))?:"
    r"|[·»›|]\s|[{}]\s*\"|\"\s*[:}]|\\\[|\\\(|\bviewport\b"
    r"|\b(?:cookie policy|privacy policy|see (?:more|results)|read more)\b",
    re.IGNORECASE,
)
_MANUAL: Final = re.compile(
    r"\b(?:you (?:can|may|need to|want|have (?:to|successfully)|don't need)"
    r"|you should (?:now|see|be able)|you(?:'|’)(?:ve|ll|d)|once you|if you|when you|enjoy)\b",
    re.IGNORECASE,
)
_CODE_LINE: Final = re.compile(r"[;{}]\s*$|^\s*[\w.]+\s*(?:\([^)]*\)|=[^=>].*|\[[^\]]*\])\s*$")
_ASSIGNED: Final = re.compile(r"^[\w.\[\]'\"]+\s*(?:=|\+=|:=)\s*\S")
_URL: Final = re.compile(r"\b(?:https?|file|ftp)://\S+")

_PATTERNS: Final = (
    _SELF_TALK,
    _ADDRESSED,
    _OUTPUT,
    _CODE_LINE,
    _ASSIGNED,
    _FURNITURE,
)


def without_politeness(body: str) -> str:
    """The sentence without the courtesy in front of it: "Sure, the port is 80" states a port."""
    rest = _POLITE.sub("", body, count=1)
    return rest[:1].upper() + rest[1:] if rest != body else body


def is_noise(body: str) -> bool:
    """Whether a sentence, on one line, holds nothing that others could use."""
    return (
        len(body.split()) < WORDS_MIN
        or body.endswith(("?", "?)", '?"', ":", "..."))
        or any(p.search(body) for p in _PATTERNS)
        or not _is_prose(body)
    )


def is_step(body: str) -> bool:
    """Whether a sentence tells somebody what to do: "Open the file.", "You can then run it."."""
    first = body.split(maxsplit=1)[0].strip("*_`\"'").lower().rstrip(",")
    return first in IMPERATIVES or bool(_MANUAL.search(body))


def _is_prose(body: str) -> bool:
    """Most of it is letters, and not in capitals: no dump, no path, no shouting banner."""
    words = _URL.sub("", body)
    letters = sum(c.isalpha() or c == " " for c in words)
    if letters < _LETTERS_MIN * max(len(words), 1) or len(words.split()) < WORDS_MIN:
        return False
    longest = max(map(len, words.split()))
    return longest <= 60 and not (words.isascii() and words.upper() == words)
