# SPDX-License-Identifier: Apache-2.0
"""Callbacks of linked code: when its modules come and go."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from tessera import core, cuda
from tessera.cuda import _linking

from tests.python.mock_driver import MockState

PTX = b".version 8.0\n.target sm_90\n.address_size 64\n\0"


class Counted:
    """Code that counts the modules that it is in."""

    def __init__(self) -> None:
        self.now, self.all = 0, 0
        self.code = cuda.PTXSource(PTX, setup_callback=self.setup, teardown_callback=self.teardown)

    def setup(self, module: Any) -> None:
        assert isinstance(module, core.ObjectCode) and int(module.handle)
        self.now += 1
        self.all += 1

    def teardown(self, module: Any) -> None:
        assert isinstance(module, core.ObjectCode) and int(module.handle)
        self.now -= 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    monkeypatch.setattr(_linking, "linked", lambda ptx, links: PTX)
    return Counted()


def take(x: Any) -> None:
    pass


def test_callbacks_come_before_the_launch_and_with_the_end(counted: Counted, mock: MockState) -> None:
    kernel = cuda.jit(link=[counted.code])(take)
    assert counted.now == 0
    kernel[1, 1](42)
    kernel[1, 1](100)
    assert counted.now == 1
    kernel[1, 1](3.5)
    assert counted.now == 2
    del kernel
    gc.collect()
    assert (counted.now, counted.all) == (0, 2)


def test_a_reset_ends_modules_and_kernels_load_again(counted: Counted, mock: MockState) -> None:
    lazy = cuda.jit(link=[counted.code])(take)
    eager = cuda.jit("void(int64)", link={counted.code})(take)
    for _ in range(2):
        lazy[1, 1](1)
        eager[1, 1](1)
        assert counted.now == 2
        cuda.current_context().reset()
        assert counted.now == 0
    with pytest.raises(TypeError, match="No matching definition"):
        eager[1, 1](1j)
    assert eager.specialized and counted.all == 4


def test_a_callback_that_fails_refuses_the_launch(monkeypatch: pytest.MonkeyPatch, mock: MockState) -> None:
    monkeypatch.setattr(_linking, "linked", lambda ptx, links: PTX)

    def setup(module: Any) -> None:
        raise LookupError("no such variable")

    kernel = cuda.jit(link=[cuda.PTXSource(PTX, setup_callback=setup)])(take)
    before = mock.n_launches
    with pytest.raises(LookupError, match="no such variable"):
        kernel[1, 1](1)
    assert mock.n_launches == before


def test_one_callback_is_enough(monkeypatch: pytest.MonkeyPatch, mock: MockState) -> None:
    monkeypatch.setattr(_linking, "linked", lambda ptx, links: PTX)
    seen: list[Any] = []
    for given in ({"setup_callback": seen.append}, {"teardown_callback": seen.append}, {}):
        cuda.jit(link=[cuda.PTXSource(PTX, **given)])(take)[1, 1](1)
    gc.collect()
    assert len(seen) == 2
