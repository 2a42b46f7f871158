"""The numbers and rules of the file cache, field by field."""

import hashlib

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
    size = len(text.encode())
    cache.put(path, (stamp, size, 1), size, Decoded(text, "utf-8"))


def write(cache, path, text, stamp=2):
    """Odin changes the file."""
    size = len(text.encode())
    cache.put(path, (stamp, size, 1), size, Decoded(text, "utf-8"), counts=False)
    cache.note_written(path)


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
    put(cache, path, "one\ntwo\n", stamp=5_000_000_000)

    file = cache.peek(path)
    assert (file.size, file.total_lines, file.is_partial, file.is_truncated) == (8, 2, False, False)
    assert (file.full_content.text, file.segments, file.is_modified) == ("one\ntwo\n", [], False)
    assert file.content_hash == file.original_hash == hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert (file.mod_time, file.access_count, file.cached_bytes) == (5.0, 1, 8)
    assert file.cached_at == file.read_at < file.last_accessed
    first, original = file.cached_at, file.original_hash

    write(cache, path, "new\n", stamp=6_000_000_000)
    file = cache.peek(path)
    assert (file.size, file.total_lines, file.is_partial, file.segments) == (4, 1, False, [])
    assert (file.is_modified, file.mod_time, file.access_count, file.cached_at) == (True, 6.0, 2, first)
    assert (file.content_hash, file.original_hash) == (hashlib.sha256(b"new\n").hexdigest(), original)


def test_a_file_is_modified_until_it_has_its_first_text_again(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one")
    write(cache, path, "two", stamp=2)
    put(cache, path, "three", stamp=3)
    assert cache.peek(path).is_modified

    write(cache, path, "one", stamp=4)

    assert not cache.peek(path).is_modified
    assert cache.peek(path).content_hash == cache.peek(path).original_hash


def test_what_somebody_else_changes_is_not_modified_by_odin_and_keeps_its_first_hash(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one")
    first = cache.peek(path).original_hash
    put(cache, path, "two", stamp=2)

    assert not cache.peek(path).is_modified
    assert cache.peek(path).original_hash == first != cache.peek(path).content_hash


def test_a_file_that_odin_makes_is_modified_and_has_no_original(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    write(cache, path, "new")

    assert (cache.peek(path).is_modified, cache.peek(path).original_hash) == (True, None)
    put(cache, path, "newer", stamp=3)
    assert (cache.peek(path).is_modified, cache.peek(path).original_hash) == (True, None)


def test_a_file_that_was_removed_and_comes_back_is_as_before(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one")
    cache.note_removed(path)
    assert path not in cache

    write(cache, path, "one", stamp=3)

    assert not cache.peek(path).is_modified


def test_a_file_that_odin_has_removed_and_that_comes_back_otherwise_is_modified(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one")
    cache.note_removed(path)

    put(cache, path, "two", stamp=3)

    assert cache.peek(path).is_modified


def test_an_edit_makes_a_partial_entry_full(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    cache.put_parts(path, (1, 8, 1), 8, {2: ["two"]})
    put(cache, path, "one\ntwo\n")
    write(cache, path, "1\n2\n")

    assert (cache.peek(path).is_partial, cache.peek(path).segments, cache.size) == (False, [], 4)
    assert cache.peek(path).is_modified


def test_a_moved_file_takes_all_that_is_known_of_it_along(cache, tmp_path):
    cache, path = cache(maxEntries=2), tmp_path / "old" / "a"
    put(cache, path, "one")
    write(cache, path, "two")
    cache.move(tmp_path / "old", tmp_path / "new")

    assert [it for it, _ in cache] == [tmp_path / "new" / "a"]
    assert (cache.peek(tmp_path / "new" / "a").is_modified, cache.size) == (True, 3)
    put(cache, tmp_path / "b", "x")
    put(cache, tmp_path / "c", "x")
    assert {it.name for it, _ in cache} == {"a", "c"}


def test_a_file_that_is_moved_to_where_another_was_and_back_is_still_known(cache, tmp_path):
    cache = cache()
    put(cache, tmp_path / "a", "one")
    put(cache, tmp_path / "b", "other")
    cache.note_removed(tmp_path / "b")
    cache.move(tmp_path / "a", tmp_path / "b")
    cache.move(tmp_path / "b", tmp_path / "a")

    assert [(it, file.is_modified) for it, file in cache] == [(tmp_path / "a", False)]


def test_a_use_counts_and_a_peek_does_not(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "x")
    before = cache.peek(path).last_accessed
    full(cache, path, 1)

    assert cache.peek(path).access_count == 2
    assert cache.peek(path).last_accessed > before


def test_to_look_at_a_file_for_an_edit_is_no_use_of_it(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "x")
    cache.full(path, (1, 1, 1), to_edit=True)

    assert cache.peek(path).access_count == 1


def test_a_changed_stamp_is_a_miss(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "x")

    assert full(cache, path, 1, stamp=2) is None


@pytest.mark.parametrize("most", [1, 100])
def test_what_has_to_be_read_again_keeps_its_first_hash_and_its_uses(cache, tmp_path, most):
    cache, path = cache(maxEntries=most), tmp_path / "a"
    put(cache, path, "x")
    full(cache, path, 1)
    before = cache.peek(path)
    cache.forget(path)
    assert (path in cache, cache.size) == (False, 0)
    put(cache, path, "y", stamp=2)

    file = cache.peek(path)
    assert (file.access_count, file.cached_at) == (3, before.cached_at)
    assert file.original_hash == before.content_hash


def test_without_auto_refresh_only_forgetting_makes_a_miss(cache, tmp_path):
    cache, path = cache(autoRefresh=False), tmp_path / "a"
    put(cache, path, "x")

    assert full(cache, path, 1, stamp=2) == "x"
    assert cache.full(path, (2, 1, 1), to_edit=True) is None
    cache.forget(path)
    assert full(cache, path, 1) is None


def test_without_auto_refresh_a_document_that_was_closed_is_read_again(cache, tmp_path):
    cache, path = cache(autoRefresh=False), tmp_path / "a"
    cache.put(path, (1, -1, 0), 5, Decoded("typed", "utf-8"))

    assert full(cache, path, 1) is None


def test_an_old_entry_expires(cache, tmp_path):
    cache, path = cache(ttl=5), tmp_path / "a"
    put(cache, path, "x")
    assert full(cache, path, 1) == "x"
    cache._clock.now += 10
    assert full(cache, path, 1) is None


def test_an_expired_entry_that_was_read_again_is_good_for_as_long_again(cache, tmp_path):
    cache, path = cache(ttl=5), tmp_path / "a"
    put(cache, path, "x")
    cache._clock.now += 10
    put(cache, path, "x")
    assert full(cache, path, 1) == "x"
    cache._clock.now += 10
    assert full(cache, path, 1) is None


def test_parts_expire_and_are_not_kept_alive_by_newer_ones(cache, tmp_path):
    cache, path = cache(ttl=5), tmp_path / "a"
    part(cache, path, 1, 2)
    cache._clock.now += 3
    part(cache, path, 11, 12)
    cache._clock.now += 3
    assert cache.part(path, (1, 10**7, 1), 1, 2) is None
    part(cache, path, 11, 12)

    assert [it.key for it in cache.peek(path).segments] == ["11-12"]


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


def test_the_least_frequent_stays_the_least_frequent_when_it_is_read_again(cache, tmp_path):
    cache = cache(maxEntries=2, evictionPolicy="lfu")
    for name in "ab":
        put(cache, tmp_path / name, name)
    for _ in range(5):
        full(cache, tmp_path / "a", 1)
    full(cache, tmp_path / "b", 1)
    put(cache, tmp_path / "a", "x", stamp=2)
    put(cache, tmp_path / "new", "n")

    assert {path.name for path, _ in cache} == {"a", "new"}


def test_hybrid_keeps_modified_files_as_long_as_there_are_others(cache, tmp_path):
    cache = cache(maxEntries=2)
    put(cache, tmp_path / "old", "x")
    write(cache, tmp_path / "old", "changed")
    put(cache, tmp_path / "young", "y")

    put(cache, tmp_path / "new", "z")
    assert {path.name for path, _ in cache} == {"old", "new"}
    write(cache, tmp_path / "new", "changed")
    put(cache, tmp_path / "newest", "z")
    assert {path.name for path, _ in cache} == {"new", "newest"}


def test_hybrid_lets_a_file_go_that_has_its_first_text_again(cache, tmp_path):
    cache = cache(maxEntries=2)
    put(cache, tmp_path / "a", "x")
    put(cache, tmp_path / "b", "y")
    write(cache, tmp_path / "a", "changed")
    write(cache, tmp_path / "a", "x", stamp=3)
    full(cache, tmp_path / "b", 1)
    put(cache, tmp_path / "new", "z")

    assert {path.name for path, _ in cache} == {"b", "new"}


def test_other_settings_hold_at_once_and_what_they_allow_stays(cache, tmp_path):
    cache = cache()
    for name, text in [("a", "x"), ("b", "xx"), ("c", "xxx"), ("d", "xxxx")]:
        put(cache, tmp_path / name, text)
    part(cache, tmp_path / "big", 1, 1)
    part(cache, tmp_path / "big", 11, 11)
    write(cache, tmp_path / "a", "y")

    cache.configure(CacheSettings.model_validate({"maxFileSize": 3, "maxSegments": 1}))
    assert {path.name for path, _ in cache} == {"a", "b", "c", "big"}
    assert [it.key for it in cache.peek(tmp_path / "big").segments] == ["11-11"]
    assert cache.size == 1 + 2 + 3 + len("line 11\n")
    cache.configure(CacheSettings.model_validate({"maxEntries": 2}))
    assert {path.name for path, _ in cache} == {"a", "big"}
    cache.configure(CacheSettings.model_validate({"maxCacheSize": 1}))
    assert ([path.name for path, _ in cache], cache.size) == (["a"], 1)
    assert cache.peek(tmp_path / "a").is_modified


def test_another_policy_goes_by_what_was_used_before(cache, tmp_path):
    cache = cache(evictionPolicy="lru")
    for name in "ab":
        put(cache, tmp_path / name, name)
    for name in "aab":
        full(cache, tmp_path / name, 1)

    cache.configure(CacheSettings.model_validate({"evictionPolicy": "lfu", "maxEntries": 1}))

    assert [path.name for path, _ in cache] == ["a"]


def test_bytes_are_bounded_too(cache, tmp_path):
    cache = cache(maxCacheSize=10, maxFileSize=6)
    for name, size in [("a", 4), ("b", 4), ("c", 4)]:
        put(cache, tmp_path / name, "x" * size)
    put(cache, tmp_path / "big", "x" * 7)

    assert [path.name for path, _ in cache] == ["b", "c"]
    assert cache.size == 8


def part(cache, path, start, end, stamp=1):
    lines = [f"line {number}" for number in range(start, end + 1)]
    cache.put_parts(path, (stamp, 10**7, 1), 10**7, {start: lines})


def test_a_part_serves_every_range_inside_it(cache, tmp_path):
    cache, path = cache(), tmp_path / "big"
    part(cache, path, 1000, 1100)

    assert cache.part(path, (1, 10**7, 1), 1045, 1055) == ([f"line {number}" for number in range(1045, 1056)], None)
    assert cache.part(path, (1, 10**7, 1), 1095, 1105) is None
    assert cache.part(path, (2, 10**7, 1), 1045, 1055) is None
    assert cache.peek(path).is_partial
    assert cache.peek(path).content_hash is None


def test_how_many_lines_a_file_has_is_known_from_any_part_that_tells(cache, tmp_path):
    cache, path = cache(), tmp_path / "big"
    part(cache, path, 1, 10)
    assert cache.peek(path).total_lines is None
    cache.put_parts(path, (1, 10**7, 1), 10**7, {11: ["last"]}, 11)
    assert cache.peek(path).total_lines == 11
    part(cache, path, 1, 5)

    assert cache.peek(path).total_lines == 11
    assert cache.part(path, (1, 10**7, 1), 11, 2000) == (["last"], 11)


def test_parts_that_are_apart_stay_apart_and_those_that_touch_become_one(cache, tmp_path):
    cache, path = cache(), tmp_path / "big"
    part(cache, path, 1000, 1100)
    part(cache, path, 5000, 5100)
    assert sorted(segment.key for segment in cache.peek(path).segments) == ["1000-1100", "5000-5100"]
    part(cache, path, 1101, 1200)
    part(cache, path, 900, 1050)

    assert sorted(segment.key for segment in cache.peek(path).segments) == ["5000-5100", "900-1200"]
    assert cache.part(path, (1, 10**7, 1), 900, 1200) == ([f"line {number}" for number in range(900, 1201)], None)
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


def test_parts_that_are_the_whole_file_make_it_full(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    content = Decoded("one\ntwo\nthree\n", "utf-8")
    cache.put_parts(path, (1, 14, 1), 14, {1: ["one"]}, 3, content)
    cache.put_parts(path, (1, 14, 1), 14, {3: ["three"]}, 3, content)
    assert cache.peek(path).is_partial
    cache.put_parts(path, (1, 14, 1), 14, {2: ["two"]}, 3, content)

    assert (cache.peek(path).full_content, cache.peek(path).segments, cache.size) == (content, [], 14)


def test_of_a_file_that_is_too_large_only_parts_are_kept(cache, tmp_path):
    cache, path = cache(maxFileSize=10), tmp_path / "a"
    content = Decoded("one\ntwo\nthree\n", "utf-8")
    cache.put_parts(path, (1, 14, 1), 14, {1: ["one", "two", "three"]}, 3, content)
    cache.put(path, (1, 14, 1), 14, content)

    assert [it.key for it in cache.peek(path).segments] == ["1-3"]
    cache.put(path, (2, 14, 1), 14, content)
    assert path not in cache


def test_a_whole_file_serves_parts_and_takes_none(cache, tmp_path):
    cache, path = cache(), tmp_path / "a"
    put(cache, path, "one\ntwo\nthree\n")
    cache.put_parts(path, (1, 14, 1), 14, {2: ["other"]})

    assert cache.part(path, (1, 14, 1), 2, 3) == (["two", "three"], 3)
    assert cache.peek(path).segments == []


def test_the_bound_holds_while_ten_thousand_files_come_and_go(cache, tmp_path):
    cache = cache(maxCacheSize=100_000, evictionPolicy="lfu")
    for number in range(10_000):
        put(cache, tmp_path / str(number), "x" * (number % 997))
        assert cache.size <= 100_000
    assert cache.size == sum(file.cached_bytes for _, file in cache)
