"""What the site's build adds to the pages in docs/: README and its like, pages from the code, equations."""
