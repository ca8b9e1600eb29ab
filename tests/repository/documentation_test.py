"""Every page is reachable from docs/README.md, and every link in a page leads somewhere."""

import pathlib
import re
import unittest

import tree

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)


def links(page_text):
    """Targets of the links in a page, without those in code."""
    return LINK.findall(FENCE.sub("", page_text))


def anchors(page_text):
    """The anchors that a forge makes of the headings."""
    titles = HEADING.findall(re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", page_text, flags=re.MULTILINE | re.DOTALL))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def local(target):
    return not re.match(r"[a-z][a-z0-9+.-]*:", target)


def resolve(page, target):
    """(path from the root, anchor) that a local link of `page` leads to."""
    name, _, anchor = target.partition("#")
    path = (tree.ROOT / page).parent / name if name else tree.ROOT / page
    return path.resolve(), anchor


def reachable(start):
    """Pages that can be reached from `start` by links, with `start`."""
    seen, waiting = set(), [(tree.ROOT / start).resolve()]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        waiting += [resolve(page, target)[0] for target in links(page.read_text(encoding="utf-8")) if local(target)]
    return seen


class Documentation(unittest.TestCase):
    def test_every_page_in_docs_is_reachable_from_its_index(self):
        pages = {(tree.ROOT / path).resolve() for path in tree.files(".md") if path.parts[0] == "docs"}
        self.assertIn((tree.ROOT / "docs/README.md").resolve(), pages)
        self.assertEqual(sorted(map(str, pages - reachable(pathlib.Path("docs/README.md")))), [])

    def test_every_local_link_leads_to_a_file_and_an_anchor_in_it(self):
        broken = []
        for page in tree.files(".md"):
            for target in filter(local, links(tree.text(page))):
                path, anchor = resolve(page, target)
                if not path.exists():
                    broken.append(f"{page}: {target}")
                elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
                    broken.append(f"{page}: {target} (no such heading)")
        self.assertEqual(broken, [])

    def test_the_readme_links_to_the_index_of_the_documentation(self):
        self.assertIn((tree.ROOT / "docs/README.md").resolve(), reachable(pathlib.Path("README.md")))


class TheCheckItself(unittest.TestCase):
    def test_links_in_code_are_no_links(self):
        self.assertEqual(links("[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n![g](h.svg \"title\")"), ["b.md", "h.svg"])

    def test_headings_become_anchors(self):
        self.assertEqual(anchors("## First run, in two\n```\n# no heading\n```\n"), {"first-run-in-two"})


if __name__ == "__main__":
    unittest.main()
