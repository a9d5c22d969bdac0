"""How a closing tag may be spelled: the patterns that all call grammars share."""

from __future__ import annotations

import re

from ..tags import CALL_TAGS

BLANK = r"[ \t\r\n\f\v]*+"
CALL_CLOSER = rf"<{BLANK}/{BLANK}(?:{'|'.join(map(re.escape, CALL_TAGS))}){BLANK}>"
