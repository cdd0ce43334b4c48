"""The table's place in a page: between two marker comments."""

BEGIN, END = "<!-- bench-peers: begin -->", "<!-- bench-peers: end -->"


def replaced(page, text):
    """The page with the text between its markers; ValueError if they are not there once each, in this order."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page needs the lines {BEGIN} and {END}, once each, in this order")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}"
