"""The numbers and rules of the file cache, field by field."""

import pytest

from odin_lsp.config import CacheSettings
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.text import Decoded


class Clock:
    now = 1000.0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.fixture
def cache(tmp_path):
    def make(**settings):
        return FileCache(CacheSettings.model_validate(settings), Clock())

    return make


def put(cache, path, text, stamp=1):
    data = text.encode()
    cache.put(path, (stamp, len(data), 1), data, Decoded(text, "utf-8"))


def full(cache, path, size, stamp=1):
    found = cache.full(path, (stamp, size, 1))
    return found.text if found else None


def test_the_defaults_are_the_promised_ones():
    settings = CacheSettings()

    assert (settings.max_cache_size, settings.max_file_size) == (100 * 1024 * 1024, 10 * 1024 * 1024)
    assert (settings.max_entries, settings.max_segments) == (500, 50)
    assert (settings.eviction_policy, settings.ttl, settings.auto_refresh) == ("hybrid", 0, True)


def test_an_entry_has_all_its_fields_after_a_read_and_after_an_edit(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one\ntwo\n")

    file = cache.peek(path)
    assert (file.size, file.total_lines, file.is_partial, file.is_truncated, file.is_modified) == (
        8,
        2,
        False,
        False,
        False,
    )
    assert file.content_hash == file.original_hash is not None
    assert (file.stamp, file.access_count, file.cached_bytes) == ((1, 8, 1), 1, 8)
    assert file.cached_at <= file.last_accessed

    cache.update(path, (2, 4, 1), Decoded("new\n", "utf-8"))
    file = cache.peek(path)
    assert (file.is_modified, file.size, file.segments, file.access_count) == (True, 4, [], 2)
    assert file.content_hash != file.original_hash
    cache.update(path, (3, 8, 1), Decoded("one\ntwo\n", "utf-8"))
    assert not cache.peek(path).is_modified


def test_a_use_counts_and_a_peek_does_not(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "x")
    before = cache.peek(path).last_accessed
    full(cache, path, 1)

    assert cache.peek(path).access_count == 2
    assert cache.peek(path).last_accessed > before


def test_a_changed_stamp_is_a_miss_and_the_same_bytes_make_it_a_hit_again(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "x")

    assert full(cache, path, 1, stamp=2) is None
    assert not cache.same(path, (2, 1, 1), b"y")
    assert cache.same(path, (2, 1, 1), b"x")
    assert full(cache, path, 1, stamp=2) == "x"


def test_without_auto_refresh_only_forgetting_makes_a_miss(cache, tmp_path):
    cache, path = cache(autoRefresh=False), tmp_path / "a"
    put(cache, path, "x")

    assert full(cache, path, 1, stamp=2) == "x"
    cache.forget(path)
    assert full(cache, path, 1) is None


def test_an_old_entry_expires(cache, tmp_path):
    cache, path = cache(ttl=5), tmp_path / "a"
    put(cache, path, "x")
    assert full(cache, path, 1) == "x"
    cache._clock.now += 10
    assert full(cache, path, 1) is None


@pytest.mark.parametrize(
    ("policy", "gone"),
    [("lru", "b"), ("lfu", "c"), ("hybrid", "b")],
)
def test_each_policy_lets_its_own_go_first(cache, tmp_path, policy, gone):
    cache = cache(maxEntries=3, evictionPolicy=policy)
    for name in "abc":
        put(cache, tmp_path / name, name)
    for name in "aabbc":
        full(cache, tmp_path / name, 1)
    full(cache, tmp_path / "a", 1)
    put(cache, tmp_path / "new", "n")

    assert {path.name for path, _ in cache} == {"a", "b", "c", "new"} - {gone}


def test_hybrid_keeps_modified_files_as_long_as_there_are_others(cache, tmp_path):
    cache = cache(maxEntries=2)
    put(cache, tmp_path / "old", "x")
    cache.update(tmp_path / "old", (2, 7, 1), Decoded("changed", "utf-8"))
    put(cache, tmp_path / "young", "y")

    put(cache, tmp_path / "new", "z")
    assert {path.name for path, _ in cache} == {"old", "new"}
    cache.update(tmp_path / "new", (2, 7, 1), Decoded("changed", "utf-8"))
    put(cache, tmp_path / "newest", "z")
    assert {path.name for path, _ in cache} == {"new", "newest"}


def test_bytes_are_bounded_too(cache, tmp_path):
    cache = cache(maxCacheSize=10, maxFileSize=6)
    for name, size in [("a", 4), ("b", 4), ("c", 4)]:
        put(cache, tmp_path / name, "x" * size)
    put(cache, tmp_path / "big", "x" * 7)

    assert [path.name for path, _ in cache] == ["b", "c"]
    assert cache.size == 8


def part(cache, path, start, end, stamp=1):
    lines = [f"line {number}\n" for number in range(start, end + 1)]
    cache.put_part(path, (stamp, 10**7, 1), 10**7, start, lines, None)


def test_a_part_serves_every_range_inside_it(cache, tmp_path):
    cache, path = cache(), tmp_path / "big"
    part(cache, path, 1000, 1100)

    assert cache.part(path, (1, 10**7, 1), 1045, 1055)[0] == "line 1045\n"
    assert len(cache.part(path, (1, 10**7, 1), 1045, 1055)) == 11
    assert cache.part(path, (1, 10**7, 1), 1095, 1105) is None
    assert cache.part(path, (2, 10**7, 1), 1045, 1055) is None
    assert cache.peek(path).is_partial
    assert cache.peek(path).content_hash is None


def test_how_many_lines_a_file_has_is_known_from_any_part_that_tells(cache, tmp_path):
    cache, path = cache(), tmp_path / "big"
    part(cache, path, 1, 10)
    assert cache.peek(path).total_lines is None
    cache.put_part(path, (1, 10**7, 1), 10**7, 11, ["last\n"], 11)
    assert cache.peek(path).total_lines == 11
    part(cache, path, 1, 5)

    assert cache.peek(path).total_lines == 11


def test_parts_that_are_apart_stay_apart_and_those_that_touch_become_one(cache, tmp_path):
    cache, path = cache(), tmp_path / "big"
    part(cache, path, 1000, 1100)
    part(cache, path, 5000, 5100)
    assert sorted(segment.key for segment in cache.peek(path).segments) == ["1000-1100", "5000-5100"]
    part(cache, path, 1101, 1200)
    part(cache, path, 900, 1050)

    assert sorted(segment.key for segment in cache.peek(path).segments) == ["5000-5100", "900-1200"]
    assert cache.part(path, (1, 10**7, 1), 900, 1200) == [f"line {number}\n" for number in range(900, 1201)]
    assert (
        cache.size
        == cache.peek(path).cached_bytes
        == sum(len(f"line {n}\n") for n in [*range(900, 1201), *range(5000, 5101)])
    )


def test_there_are_at_most_so_many_parts_and_the_least_recent_goes(cache, tmp_path):
    cache, path = cache(maxSegments=3), tmp_path / "big"
    for start in (100, 200, 300):
        part(cache, path, start, start + 9)
    cache.part(path, (1, 10**7, 1), 100, 105)
    part(cache, path, 400, 409)

    assert {segment.start for segment in cache.peek(path).segments} == {100, 300, 400}


def test_a_whole_file_serves_parts_and_takes_none(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one\ntwo\nthree\n")
    cache.put_part(path, (1, 14, 1), 14, 2, ["other\n"], None)

    assert cache.part(path, (1, 14, 1), 2, 3) == ["two\n", "three\n"]
    assert cache.peek(path).segments == []


def test_the_bound_holds_while_ten_thousand_files_come_and_go(cache, tmp_path):
    cache = cache(maxCacheSize=100_000, evictionPolicy="lfu")
    for number in range(10_000):
        put(cache, tmp_path / str(number), "x" * (number % 997))
        assert cache.size <= 100_000
    assert cache.size == sum(file.cached_bytes for _, file in cache)
