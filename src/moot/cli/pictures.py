"""Pictures that commands write into files."""

from pathlib import Path

from moot.core.errors import InvalidInput


def write(file: Path, picture: str) -> None:
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}.", "Name another file.") from error
