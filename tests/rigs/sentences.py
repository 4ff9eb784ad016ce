"""How an error should read."""


def is_sentence(error: Exception) -> bool:
    """One line without a full stop, which starts in lower case or with what the user gave."""
    text = str(error)
    begins_well = text[0].islower() or not text[0].isalpha()
    return begins_well and "\n" not in text and not text.endswith(".")
