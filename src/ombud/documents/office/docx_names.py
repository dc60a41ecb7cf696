"""Names of elements and attributes in Word documents (ECMA-376, part 1, 17), with what they
hold."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

# Text
BODY = f"{W}body"
PARAGRAPH = f"{W}p"
PARAGRAPH_PROPERTIES = f"{W}pPr"
PARAGRAPH_STYLE = f"{W}pStyle"
RUN = f"{W}r"
RUN_PROPERTIES = f"{W}rPr"
BOLD = f"{W}rPr/{W}b"
TEXT = f"{W}t"
TAB = f"{W}tab"
BREAK = f"{W}br"
CARRIAGE_RETURN = f"{W}cr"
HYPHEN = f"{W}noBreakHyphen"
FIELD_CODE = f"{W}instrText"
FOOTNOTE_REFERENCE = f"{W}footnoteReference"
TEXT_BOX = f"{W}txbxContent"

# Changes and containers
DELETED = f"{W}del"
INSERTED = f"{W}ins"
MOVED_AWAY = f"{W}moveFrom"
CONTENT_CONTROL = f"{W}sdt"
CONTROLLED_CONTENT = f"{W}sdtContent"
SMART_TAG = f"{W}smartTag"
CUSTOM_XML = f"{W}customXml"

# Tables
TABLE = f"{W}tbl"
ROW = f"{W}tr"
CELL = f"{W}tc"
COLUMN_SPAN = f"{W}tcPr/{W}gridSpan"
ROW_MERGE = f"{W}tcPr/{W}vMerge"

# Styles
STYLE = f"{W}style"
STYLE_ID = f"{W}styleId"
NAME = f"{W}name"
BASED_ON = f"{W}basedOn"
OUTLINE_LEVEL = f"{W}outlineLvl"

# Numbering: a list refers to its definition, which has a pattern for each level
PARAGRAPH_LIST = f"{W}numPr/{W}numId"
PARAGRAPH_LEVEL = f"{W}numPr/{W}ilvl"
LIST = f"{W}num"
LIST_ID = f"{W}numId"
LIST_DEFINITION = f"{W}abstractNum"
LIST_DEFINITION_ID = f"{W}abstractNumId"
LEVEL = f"{W}lvl"
LEVEL_DEPTH = f"{W}ilvl"
LEVEL_PATTERN = f"{W}lvlText"
LEVEL_FORMAT = f"{W}numFmt"
LEVEL_IS_LEGAL = f"{W}isLgl"
LEVEL_START = f"{W}start"
LEVEL_OVERRIDE = f"{W}lvlOverride"
LEVEL_RESTART = f"{W}startOverride"

# The attribute that most elements have
VALUE = f"{W}val"
