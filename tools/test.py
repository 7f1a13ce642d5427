# SPDX-License-Identifier: Apache-2.0
"""Everything `make test` runs, with one closing line: N passed, N failed, N skipped.

Steps: C tests in a debug build, the same under AddressSanitizer and UBSan, bounded fuzzing, Python
tests, random tile programs, and checks of the tree (include graph, sizes). `--only STEP` runs one; `asan`, `ubsan`,
`tsan`, `golden` and `long` run only when named.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
SANITIZERS = {
    "asan": "address",
    "ubsan": "undefined",
    "tsan": "thread",
    "sanitize": "address,undefined",
}
# Files and lines of what is found, but no variables, and code at -O1, for which the compiler takes less time.
SANITIZED = ("-Doptimization=1", "-Dc_args=-g1 -fno-sanitize-recover=undefined")
PYTHON = ("python", "tests", "tools", "bench", "examples")  # folders with programs of Python
MUCH = {"TESSERA_TEST_LONG": "1"}  # what says to tests that they are the long ones
# Test programs that begin first.
LONGEST = ("test_gpu_wgmma", "test_diff_passes", "test_math_ulp", "test_math_cpu", "test_diff_gpu", "test_gpu_lower")


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    env = dict(os.environ, PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
    env.update(options.pop("env", {}))  # type: ignore[arg-type]
    return subprocess.run(
        command, cwd=ROOT, env=env, text=True, capture_output=True, check=False, **options
    )  # type: ignore[call-overload,no-any-return]


def build(folder: str, *options: str, target: str = "all") -> bool:
    """Configures a build folder and compiles a target of it; shows the errors of a failed one."""
    setup = [
        "meson",
        "setup",
        folder,
        "-Dtests=true",
        "-Dbuildtype=debugoptimized",
        "-Db_ndebug=false",
        "-Dc_args=-g1",  # files and lines of a backtrace; variables take a seventh of the compiler's time
        *options,
    ]
    if (ROOT / folder / "build.ninja").exists():
        setup.append("--reconfigure")
    for command in (setup, ["ninja", "-C", folder, target]):
        done = run(command)
        if done.returncode:
            print((done.stdout + done.stderr)[-6000:])
            return False
    return True


def counts(text: str) -> Count:
    """The sum of all closing lines in a program's output."""
    total = Count()
    for match in re.finditer(
        r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.MULTILINE
    ):
        total.add(Count(int(match[1]), int(match[2]), int(match[3] or 0)))
    return total


def program(path: pathlib.Path, env: dict[str, str], limit: int, *more: str) -> Count:
    """Runs a test program for at most `limit` seconds."""
    start = time.monotonic()
    try:
        mock = {"TESSERA_CUDA_DRIVER": str(path.parent / "libcuda_mock.so")}
        done = run([str(path), *more], timeout=limit, env={**env, **(mock if "mock" in path.name else {})})
        found, code = counts(done.stdout), done.returncode
        output = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        found, code, output = Count(), -1, f"stopped after {limit} s"
    if code and not found.failed:
        found.failed += 1
    mark = "ok  " if not found.failed else "FAIL"
    took = f"{time.monotonic() - start:.1f} s"
    said = f"  {mark} {path.name}: {found.passed} passed, {found.skipped} skipped, {took}"
    print(said + (f"\n{output[-4000:]}" if found.failed else ""), flush=True)
    return found


def programs(folder: str, env: dict[str, str] | None = None, limit: int = 400) -> Count:
    """Runs every test program of a build folder, as many at once as there are processors, the longest first."""
    paths = [p for p in (ROOT / folder).glob("test_*") if os.access(p, os.X_OK) and not p.is_dir()]
    paths.sort(key=lambda p: (p.name not in LONGEST, p.name))
    total = Count()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(lambda p: program(p, env or {}, limit), paths):
            total.add(found)
    return total


def tool(*command: str) -> Count:
    """Runs a check of tools/, which says what is wrong."""
    done = run([sys.executable, *command])
    print(done.stdout + done.stderr, end="")
    return Count(int(done.returncode == 0), int(done.returncode != 0))


def step_c(_: argparse.Namespace) -> Count:
    if not build("build-test"):
        return Count(failed=1)
    total = tool("tools/rooms.py", "--check", "build-test")
    total.add(programs("build-test"))
    total.add(examples("build-test"))
    total.add(installed("build-test"))
    return total


def examples(folder: str) -> Count:
    """The programs of examples/c: alone, again with what the cache on disk kept, and with the mock GPU."""
    total = Count()
    mock = {"TESSERA_CUDA_DRIVER": str(ROOT / folder / "libcuda_mock.so")}
    for path in sorted((ROOT / folder).glob("example_*")):
        if path.is_dir() or not os.access(path, os.X_OK):
            continue
        with tempfile.TemporaryDirectory() as cache:
            for words, env in (([], {}), (["cached"], {}), ([], mock), (["cached"], mock)):
                done = run([str(path), *words], timeout=100, env={"TESSERA_CACHE_DIR": cache, **env})
                total.add(Count(int(done.returncode == 0), int(done.returncode != 0)))
                mark = "ok  " if not done.returncode else "FAIL"
                print(f"  {mark} {' '.join([path.name, *words, *(['with the mock GPU'] if env else [])])}", flush=True)
                print("".join(f"    {line}\n" for line in done.stdout.splitlines()) + done.stderr, end="")
    return total


def installed(folder: str) -> Count:
    """Installs headers, library and pkg-config file below a folder of their own: the example must compile against them
    as C17 and as C++17, and run.
    """
    total = Count()
    with tempfile.TemporaryDirectory() as place:
        options = ["--no-rebuild", "--quiet", "--tags", "runtime,devel", "--destdir", place]
        done = run(["meson", "install", "-C", folder, *options])
        found = sorted(pathlib.Path(place).rglob("tessera.pc"))
        prefix = found[0].parents[3 if found[0].parents[2].name == "lib" else 2] if found else pathlib.Path(place)
        env = {"PKG_CONFIG_PATH": str(found[0].parent)} if found else {}
        flags = ["--define-variable", f"prefix={prefix}", "--cflags", "--libs", "tessera"]
        words = run(["pkg-config", *flags], env=env).stdout.split()
        program, source = f"{place}/fused", "examples/c/fused.c"
        strict = ["-D_GNU_SOURCE", "-Wall", "-Werror", source, "-o", program, *words, "-lm"]
        library = {"LD_LIBRARY_PATH": next((w[2:] for w in words if w.startswith("-L")), "")}
        library |= {"TESSERA_CACHE_DIR": f"{place}/cache"}
        for name, command, variables in (
            ("C++17", ["c++", "-x", "c++", "-std=c++17", *strict], {}),
            ("C17", ["cc", "-std=c17", *strict], {}),
            ("runs", [program], library),
        ):
            if not done.returncode:
                done = run(command, timeout=100, env=variables)
            total.add(Count(int(done.returncode == 0), int(done.returncode != 0)))
            print(f"  {'ok  ' if not done.returncode else 'FAIL'} installed library: {name}", flush=True)
        print(done.stderr, end="")
        files = [p.name for p in pathlib.Path(place).rglob("*")]
        beyond = [name for name in files if name.endswith(".py") or name.startswith(("_core", "_bindings"))]
        total.add(Count(int(not beyond), int(bool(beyond))))
        print(f"  {'FAIL' if beyond else 'ok  '} installed library: no Python {' '.join(beyond[:3])}", flush=True)
    return total


def sanitized(name: str, whole: bool = False) -> Count:
    """The C tests under a sanitizer: a thirty-second of the random cases and a part of the lists of cases that are
    alike, of which the build without it has a quarter and all; or the `whole` of them.
    """
    folder = f"build-{name}"
    options = (f"-Db_sanitize={SANITIZERS[name]}", "-Db_lundef=false", *SANITIZED)
    if not build(folder, *options, target="all" if whole else "c_tests"):  # the extension: sanitized_tree
        return Count(failed=1)
    # Without intercept_tls_get_addr=0 the leak checker guesses sizes of thread-local memory of libraries from bytes in
    # front of it, and may read wild addresses.
    env = {
        "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:intercept_tls_get_addr=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        # The thread of a destroyed stream is joined by who uses the device next: nobody, where a program ends.
        "TSAN_OPTIONS": "halt_on_error=1:die_after_fork=0:report_thread_leaks=0",
    }
    return programs(folder, {**env, **MUCH}, limit=3000) if whole else programs(folder, {**env, "TESSERA_QUICK": "1"})


def fuzz(source: pathlib.Path, seconds: int) -> Count:
    """One fuzz target's own bounded loop."""
    program = ROOT / "build-sanitize" / f"fuzz_{source.stem}"
    program.parent.mkdir(exist_ok=True)
    command = [
        "cc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined", "-ffp-contract=off",
        "-Iinclude", "-Isrc", "-Itests", str(source), "build-sanitize/libtessera_core.a", "-lm", "-ldl",
        "-lpthread", "-o", str(program),
    ]  # fmt: skip
    done = run(command)
    if done.returncode == 0:
        done = run([str(program), str(seconds)], timeout=seconds + 120)
    found = counts(done.stdout)
    is_bad = bool(done.returncode or found.failed)
    said = f"  {'FAIL' if is_bad else 'ok  '} fuzz {source.stem}: {found.passed} inputs"
    print(said + (f"\n{(done.stdout + done.stderr)[-4000:]}" if is_bad else ""), flush=True)
    return Count(passed=int(not is_bad), failed=int(is_bad))


def step_fuzz(options: argparse.Namespace) -> Count:
    """Every fuzz target under the sanitizers, as many at once as there are processors."""
    total = Count()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(lambda p: fuzz(p, options.seconds), sorted((ROOT / "tests/fuzz").glob("*.c"))):
            total.add(found)
    return total


def streamed(command: list[str], env: dict[str, str] | None = None) -> Count:
    """Runs a program that shows its progress, and takes its closing line."""
    child = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "TESSERA_CACHE_DIR": "off", **(env or {})},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    found = Count()
    assert child.stdout
    for line in child.stdout:
        print(f"  {line}", end="", flush=True)
        found.add(counts(line))
    if child.wait() and not found.failed:
        found.failed += 1
    return found


def tiles(*options: str, env: dict[str, str] | None = None) -> Count:
    """Random tile programs against their second reading (tests/fuzz/tiles)."""
    jobs = str(len(os.sched_getaffinity(0)))
    return streamed([sys.executable, "tests/fuzz/tiles", "--jobs", jobs, *options], env)


def step_tiles(_: argparse.Namespace) -> Count:
    """A bounded share: the programs that were once wrong, then always the same seeds, on the CPU device, as the
    threads of GPU code in the interpreter, and as PTX in its reader; kernels of threads in all of these.
    """
    env = {"TESSERA_LIBRARY": str(ROOT / "build-test" / "libtessera.so")}  # not the sanitized one
    total = tiles("all", "--count", "1200", "--seconds", "30", env=env)
    total.add(tiles("all", "--device", "eval90", "--count", "1100", "--seconds", "10", env=env))
    total.add(tiles("all", "--device", "ptx90", "--count", "750", "--seconds", "9"))
    total.add(tiles("threads", "--device", "ptx90", "--count", "250", "--seconds", "10", env=env))
    total.add(tiles("threads", "--device", "eval90", "--seed", "1000", "--count", "400", "--seconds", "6", env=env))
    total.add(tiles("threads", "--device", "cpu", "--seed", "2000", "--count", "300", "--seconds", "12", env=env))
    return total


def sanitized_tree(folder: str) -> dict[str, str]:
    """The variables with which Python takes the sanitized extension of a build folder."""
    package = ROOT / folder / "python" / "tessera"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        ROOT / "python/tessera", package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    for path in (ROOT / folder).glob("_*.so"):
        (package / path.name).symlink_to(path)
    libraries = [run(["cc", f"-print-file-name={n}"]).stdout.strip() for n in ("libasan.so", "libubsan.so")]
    return {
        "PYTHONPATH": str(package.parent),
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }


def step_long(options: argparse.Namespace) -> Count:
    """The long form: 200,000 tile programs, both sorts of input and all of the C tests' cases under the sanitizers,
    fuzz targets, all cases of the Python tests and the algorithms.
    """
    total = tiles("all", "--count", "200000")
    if not build("build-test"):
        return Count(failed=1)
    env = {"TESSERA_LIBRARY": str(ROOT / "build-test" / "libtessera.so")}
    total.add(step_python(options, **MUCH))
    total.add(program(ROOT / "build-test" / "test_lib_compute", MUCH, 3600, "--every"))
    total.add(program(ROOT / "build-test" / "test_lib_compute_more", MUCH, 3600, "--every"))
    total.add(streamed([sys.executable, "tests/fuzz/arrays", "--programs", "10000"], {"TESSERA_LEND": "0", **env}))
    total.add(tiles("all", "--device", "eval90", "--count", "50000", env=env))
    total.add(tiles("all", "--device", "ptx90", "--count", "30000"))
    total.add(tiles("threads", "--device", "ptx90", "--seed", "10000", "--count", "10000", env=env))
    total.add(tiles("threads", "--device", "cpu", "--seed", "100000", "--count", "20000", env=env))
    total.add(tiles("threads", "--device", "eval1", "--seed", "200000", "--count", "5000", env=env))
    for width in ("32", "16"):
        narrow = {"TESSERA_VECTOR_BYTES": width, **env}
        total.add(tiles("all", "--seed", "3000000", "--count", "5000", env=narrow))
        arrays = [sys.executable, "tests/fuzz/arrays", "--seed", width, "--programs", "1000"]
        total.add(streamed(arrays, {"TESSERA_LEND": "0", **narrow}))
    for device in ("ptx80", "ptx100", "sm_80", "sm_90", "sm_100", "sm_120"):
        total.add(tiles("threads", "--device", device, "--seed", "50000", "--count", "1000", env=env))
    for device in ("ptx80", "ptx89", "ptx100", "ptx120"):
        total.add(tiles("all", "--device", device, "--seed", "2000000", "--count", "3000"))
    total.add(sanitized("sanitize", whole=True))
    env = sanitized_tree("build-sanitize")
    total.add(tiles("irtext", "--count", "300000", env=env))
    total.add(tiles("all", "--seed", "1000000", "--count", "5000", env=env))
    total.add(step_fuzz(options))
    return total


def step_python(_: argparse.Namespace, folder: str = "tests/python", **more: str) -> Count:
    """The Python tests, against the installed package."""
    command = [sys.executable, "-m", "pytest", "-rfEs", "--disable-warnings", "--durations=25", folder]
    if importlib.util.find_spec("xdist"):  # side by side; a GPU of the machine is shared by at most four processes
        command += ["-n", str(min(len(os.sched_getaffinity(0)), 4)), "--dist", "worksteal"]
    env = dict(
        os.environ,
        TESSERA_CACHE_DIR="off",
        TESSERA_LIBRARY=str(ROOT / "build-test" / "libtessera.so"),
        **more,
    )
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    print(done.stdout[-8000:] if done.returncode == 0 else done.stdout)  # traces of failures stand far above
    line = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    found = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)", line)}
    failed = found.get("failed", 0) + found.get("error", 0)
    return Count(
        found.get("passed", 0), failed or int(done.returncode != 0), found.get("skipped", 0)
    )


GENERATORS = ("reference", "gen_language", "gen_lib", "gen_compute", "gen_packages")  # what they write is in the tree


def step_tree(_: argparse.Namespace) -> Count:
    """Checks of the sources themselves: their form, and that what tools write of them is fresh."""
    checks = [(f"tools/{name}.py", "--check") for name in (*GENERATORS, "sizes")]
    checks += [("tools/headers.py",)]
    if importlib.util.find_spec("ruff"):
        checks += [("-m", "ruff", "check", "--quiet", *PYTHON)]
    total = Count()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(lambda check: tool(*check), checks):
            total.add(found)
    return total


def step_golden(options: argparse.Namespace) -> Count:
    """Golden files only; --bless rewrites them."""
    if not build("build-test"):
        return Count(failed=1)
    done = run(["build-test/test_golden_run", *(["--bless"] if options.bless else [])])
    print(done.stdout + done.stderr)
    return counts(done.stdout)


# What other programs keep in the folder for temporary files: pytest the newest runs, Python the sockets of its pools.
KEPT = ("pytest-of-*", "pymp-*", "torchinductor_*", "cuda_install_*")


def tidy(step: Callable[[argparse.Namespace], Count], options: argparse.Namespace) -> Count:
    """A step, in a folder for temporary files of its own: what stands there in the end was left behind."""
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="tessera-tests-") as place:
        os.environ["TMPDIR"] = place
        try:
            found = step(options)
        finally:
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before
        names = [name for name in sorted(os.listdir(place)) if not any(fnmatch.fnmatch(name, k) for k in KEPT)]
    if names:
        print(f"  {len(names)} files were left in the folder for temporary files: {', '.join(names[:10])}")
        found.failed += 1
    return found


STEPS = {
    "tree": step_tree,
    "c": step_c,
    "sanitize": lambda o: sanitized("sanitize"),
    "fuzz": step_fuzz,
    "python": step_python,
    "tiles": step_tiles,
}
NAMED = {
    "asan": lambda o: sanitized("asan"),
    "ubsan": lambda o: sanitized("ubsan"),
    "tsan": lambda o: sanitized("tsan"),
    "golden": step_golden,
    "long": step_long,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted({**STEPS, **NAMED}))
    parser.add_argument("--seconds", type=int, default=10, help="for each fuzz target")
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    total = Count()
    for name, step in (
        STEPS.items() if not options.only else [(options.only, {**STEPS, **NAMED}[options.only])]
    ):
        start = time.monotonic()
        print(f"{name}:", flush=True)
        found = tidy(step, options)
        total.add(found)
        print(
            f"  {name}: {found.passed} / {found.failed} / {found.skipped} in {time.monotonic() - start:.0f} s",
            flush=True,
        )
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
