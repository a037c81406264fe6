from leadline.testing import check_tokenizer

from .conftest import tokenizer


def test_every_tokenizer_keeps_the_contract(tokenizer_name: str) -> None:
    check_tokenizer(tokenizer(tokenizer_name))
