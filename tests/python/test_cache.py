# SPDX-License-Identifier: Apache-2.0
"""The directory of compiled code: other files in it stay, odd ones stop nothing, unsafe ones are
refused with a warning, and a second process compiles nothing."""

import os
import pathlib
import subprocess
import sys

import pytest

from tessera import _cache, _doctor

SCRIPT = """
import sys
import numpy as np
import tessera.tile as ct

@ct.kernel
def add(x, out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)) + 1)

x = np.zeros(16, np.float32)
ct.launch(None, (1,), add, (x, x))
assert (x == 1).all()
print("LLVM" if "libLLVM" in open("/proc/self/maps").read() else "cached")
"""


@pytest.fixture
def run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(folder, **variables):
        env = {**os.environ, "TESSERA_CACHE_DIR": str(folder), **variables}
        return subprocess.run(
            [sys.executable, script],
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    return run


def test_the_second_process_loads_no_llvm(run, tmp_path):
    assert run(tmp_path / "cache").stdout == "LLVM\n"
    second = run(tmp_path / "cache")
    assert second.stdout == "cached\n" and second.stderr == ""


def test_a_pass_left_out_is_other_code(run, tmp_path):
    run(tmp_path / "cache", TS_STOP="licm")
    assert run(tmp_path / "cache").stdout == "LLVM\n"


def test_files_of_the_user_stay(run, tmp_path):
    folder = tmp_path / "home"
    (folder / "ab").mkdir(parents=True)
    (folder / "thesis.txt").write_bytes(b"x" * 2_000_000)
    (folder / "ab" / ("0" * 30)).write_bytes(b"x" * 2_000_000)
    run(folder, TESSERA_CACHE_SIZE="1M")
    assert (folder / "thesis.txt").exists() and (folder / "ab" / ("0" * 30)).exists()
    assert run(folder, TESSERA_CACHE_SIZE="1M").stdout == "cached\n"


def test_a_fifo_where_a_file_should_be_stops_nothing(run, tmp_path):
    folder = tmp_path / "cache"
    run(folder)
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        path.unlink()
        os.mkfifo(path, 0o600)
    assert run(folder).stdout == "LLVM\n"
    assert run(folder).stdout == "cached\n"


def test_a_directory_that_others_write_to_is_refused_once(run, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    done = run(folder)
    said = "RuntimeWarning: compiled code is not kept on disk, because others can write"
    assert done.stderr.count(said) == 1
    assert "mode 777; chmod go-w mends it" in done.stderr and str(folder) in done.stderr
    assert not list(folder.iterdir())


@pytest.mark.parametrize("word", ["off", "OFF", "Off", "None", "0"])
def test_off_keeps_nothing_in_any_case(run, tmp_path, monkeypatch, word):
    monkeypatch.chdir(tmp_path)
    assert run(word).stderr == "" and not (tmp_path / word).exists()
    monkeypatch.setenv("TESSERA_CACHE_DIR", word)
    assert _cache.folder() is None


def test_a_leading_tilde_is_the_home_directory(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("~/kept", "~"):
        assert run(place, HOME=str(tmp_path / "home")).stderr == ""
    assert not (tmp_path / "~").exists()
    assert (tmp_path / "home/kept/tessera-code").is_dir()
    assert (tmp_path / "home/tessera-code").is_dir()
    monkeypatch.setenv("TESSERA_CACHE_DIR", "~/kept")
    monkeypatch.setenv("HOME", "/home/me")
    assert _cache.folder() == pathlib.Path("/home/me/kept")


@pytest.mark.parametrize(
    "place,why",
    [
        ("/proc/x", "the directory '/proc/x/tessera-code' cannot be made (No such file or directory)"),
        ("/dev/null", "'/dev/null' is not a directory"),
        ("/dev/null/x", "'/dev/null/x' is not a directory"),
        ("~nobody/x", "'~nobody/x' begins with ~"),
    ],
)
def test_a_directory_that_cannot_be_is_told_once(run, tmp_path, monkeypatch, place, why):
    monkeypatch.chdir(tmp_path)
    done = run(place)
    said = "RuntimeWarning: compiled code is not kept on disk, because " + why
    assert done.stdout == "LLVM\n" and done.stderr.count(said) == 1, done.stderr
    assert done.stderr.count("Warning") == 1 and "TESSERA_CACHE_DIR" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["script.py"]
    doctor = subprocess.run(
        [sys.executable, "-m", "tessera", "doctor"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "TESSERA_CACHE_DIR": place},
    )  # fmt: skip
    assert why in doctor.stdout


def test_doctor_counts_only_our_files(monkeypatch, tmp_path):
    (tmp_path / "thesis.txt").write_bytes(b"x" * 2_000_000)
    monkeypatch.setenv("TESSERA_CACHE_DIR", str(tmp_path))
    ((_, _, text),) = _doctor._caches()
    assert text == f"{tmp_path}, 0 files, 0.0 MiB"


def test_read_takes_plain_files_of_this_user(tmp_path):
    good = tmp_path / "good"
    good.write_bytes(b"code")
    good.chmod(0o644)
    assert _cache.read(good) == b"code"
    fifo, link, folder = tmp_path / "fifo", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(fifo, 0o600)
    link.symlink_to(good)
    folder.mkdir()
    for path in (fifo, link, folder, pathlib.Path("/dev/zero"), tmp_path / "absent"):
        with pytest.raises(OSError):
            _cache.read(path)
    good.chmod(0o666)
    with pytest.raises(PermissionError, match="only its owner can write to"):
        _cache.read(good)


def command(folder, *words, code=None):
    env = {**os.environ, "TESSERA_CACHE_DIR": str(folder)}
    start = ["-m", "tessera", "cache"] if code is None else ["-c", code]
    return subprocess.run([sys.executable, *start, *words], env=env, capture_output=True, text=True, check=False)


def test_the_cache_is_listed_and_cleared(run, tmp_path):
    folder = tmp_path / "cache"
    assert run(folder).stdout == "LLVM\n"
    (folder / "tessera-code" / "00").mkdir(exist_ok=True)
    (folder / "tessera-code" / "00" / ("0" * 30)).write_bytes(b"not an entry")
    (folder / "tessera-code" / "notes.txt").write_text("mine")
    done = command(folder)
    head, size, *_, total = done.stdout.splitlines()
    assert head.split()[2:] == ["cpu", "add"] and "bytes of code" in size
    assert total.startswith("2 kernels, ")  # for arrays that lie apart, and for one that is both
    peer = "import sys; from tessera._cache_command import peer; sys.exit(peer())"
    assert command(folder, "log", code=peer).stdout == done.stdout
    assert command(folder, "clear").stdout.startswith("deleted 3 kernels")
    assert command(folder, "list").stdout.startswith("0 kernels, ") and (folder / "tessera-code" / "notes.txt").exists()
    assert run(folder).stdout == "LLVM\n"


def test_what_the_cache_command_refuses(tmp_path):
    done = command(tmp_path, "lis")
    assert done.returncode == 2 and "did you mean 'list'" in done.stderr and "usage:" in done.stderr
    done = command("off")
    assert done.returncode == 1 and "TESSERA_CACHE_DIR is off" in done.stderr
