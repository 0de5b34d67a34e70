"""FSx of the double: file systems with all that was asked of them, backups, and links to buckets."""

from aws_double.services.fsx import backups, file_systems, repositories, tags
from aws_double.services.fsx.api import API, take_over

__all__ = ["API", "backups", "file_systems", "install", "repositories", "tags"]


def install() -> None:
    """Put the double's FSx in the place of moto's; once is enough, twice does no harm."""
    take_over()
