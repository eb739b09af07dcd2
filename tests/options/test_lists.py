from hypothesis import given
from hypothesis import strategies as st

from tfprof.options.lists import joined_list, split_list

REGEXES = st.lists(
    st.sampled_from([".*", "a,b", "x{1,2}", "[,;]", "Conv2D", r"a\.b", "Mat(Mul|Vec)"]),
    max_size=4,
)


@given(REGEXES)
def test_what_is_joined_is_taken_apart_again(elements):
    assert split_list([joined_list(elements)]) == elements
