"""Reports of a review: as text, JSON, SARIF and Markdown."""
