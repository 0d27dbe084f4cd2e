"""Messages about arguments name the value and the next step."""

from nnmfaug.core.checks import unknown_name


def test_an_unknown_name_lists_at_most_three_close_ones() -> None:
    known = ["china", "chine", "chino", "chins", "cuba"]
    message = unknown_name("entity", "chinx", known)
    assert message.startswith("unknown entity 'chinx'; did you mean 'chin")
    assert message.count("'chin") == 4


def test_without_a_close_one_it_lists_all_if_they_are_few() -> None:
    assert unknown_name("preset", "x", ["transe", "rotate"]) == (
        "unknown preset 'x'; choose one of: transe, rotate"
    )
    assert unknown_name("entity", "x", [f"name{i}" for i in range(21)]) == "unknown entity 'x'"
    assert unknown_name("entity", "x", []) == "unknown entity 'x'"
