"""Executors of a study: a Dask cluster runs its units, each as a share of the whole that its worker stores and asks."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from pytest_promptfuzz.comparing.profiles import profiles_from
from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, UsageError
from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
from pytest_promptfuzz.evaluating.settings import PROFILES, read_tool
from pytest_promptfuzz.running.limits.budget import Caps, MemoryLedger, Price
from pytest_promptfuzz.running.limits.lanes import Lane, LaneRule
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.storage.stores import open_store
from pytest_promptfuzz.studies.cells import Cell, cell_of
from pytest_promptfuzz.studies.runner import CONCURRENCY, study
from pytest_promptfuzz.studies.study import Study, mitigated, read_study, sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.evaluating.session import Mode


STORE = "PROMPTFUZZ_STORE"
"""The variable that names a shared store: in each worker's own environment, since a password may be in it."""
_DASK = "dask:"
_FOR_WORKERS = 30  # seconds until a cluster without a worker is given up
_one_share = threading.Lock()
_lanes: dict[str, dict[str, Lane]] = {}
"""What this worker asked in the last minute, by the command that it was for."""


class StudyOrder(NamedTuple):
    """What each worker is told: plain data, without a secret.

    Attributes:
        root: The project's folder, with pyproject.toml, as workers find it.
        file: The study's file, likewise.
        digest: Of the study that the file has to hold.
        mitigate: Edits of the prompt under which every model is asked; empty for none.
        sample: How many inputs of each task are asked; ``None`` for all.
        cells: The share of the cells that is asked.
        shares: Into how many shares the study is cut, one for each unit.
        mode: ``auto`` or ``live``.
        cache_dir: Folder of the local cache, likewise.
        concurrency: The most calls at once, of all workers and then of one; ``None`` where nobody says.
        limits: Those of one worker, as :class:`~pytest_promptfuzz.running.limits.limits.Settings` has them.
        command: What all shares of one command have in common, and no other has.
    """

    root: str
    file: str
    digest: str
    mitigate: tuple[str, ...]
    sample: int | None
    cells: float
    shares: int
    mode: Mode
    cache_dir: str
    concurrency: int | None
    limits: dict[str, Any]
    command: str = ""


def check_executor(name: str) -> str:
    """The address of the Dask scheduler that ``dask:ADDRESS`` names.

    Raises:
        UsageError: It names no executor.
        ConfigurationError: The package is not installed.
    """
    address = name.removeprefix(_DASK)
    if not name.startswith(_DASK) or not address:
        raise UsageError(f"--executor {name!r}; write dask:ADDRESS, such as dask:tcp://127.0.0.1:8786.")
    if importlib.util.find_spec("distributed") is None:
        raise ConfigurationError(
            "--executor dask needs the package 'distributed': pip install 'pytest-promptfuzz[dask]'"
        )
    return address


def digest_of(whole: Study) -> str:
    """A digest of all that a study asks; studies that differ in a prompt, an input or a setting have others."""
    tasks = [
        {
            "name": task.name,
            "prompt": task.prompt.text,
            "inputs": [[each.name, each.values, each.expected] for each in task.inputs],
            "operators": [*map(str, task.operators)],
            "mutations": task.mutations,
            "settings": dict(task.settings),
            "factorial": [task.factorial, task.resolution],
            "examples": [[each.values, each.expected] for each in task.examples],
            "measures": [*task.measures],
            "group": task.group,
            "conversation": task.conversation,
        }
        for task in whole.tasks
    ]
    models = [[each.name, str(each.target), dict(each.parameters), each.prompting] for each in whole.models]
    text = json.dumps(
        [whole.name, whole.runs, whole.seed, whole.cells, tasks, models], sort_keys=True, default=str
    )
    return hashlib.sha256(text.encode()).hexdigest()


def divided(settings: Settings, workers: int, shares: int) -> Settings:
    """The limits of one worker: an equal part of the rates, and of the budget for each share that it runs.

    Raises:
        UsageError: The budget has less than a call for each share, or a rate less than one for each worker.
    """
    caps = settings.caps
    if caps.calls is not None and 0 < caps.calls < shares:
        raise UsageError(
            f"{caps.prefix}max-calls {caps.calls} is less than one call for each of the {shares} units of the study, "
            "among which an executor divides it."
        )
    return replace(
        settings,
        rule=_part_of(settings.rule, workers, caps.prefix),
        rules={
            pattern: _part_of(each, workers, f'[tool.promptfuzz.limits] "{pattern}": ')
            for pattern, each in settings.rules.items()
        },
        caps=replace(
            caps,
            calls=None if caps.calls is None else caps.calls // shares,
            tokens=None if caps.tokens is None else caps.tokens // shares,
            cost=None if caps.cost is None else caps.cost / shares,
        ),
    )


def _part_of(rule: LaneRule, workers: int, where: str) -> LaneRule:
    whole = {name: value for name, value in asdict(rule).items() if value is not None}
    return LaneRule(**{name: _part(value, workers, f"{where}{name}") for name, value in whole.items()})


def _part(value: int, workers: int, name: str) -> int:
    """A worker's part of a limit; the sum of all parts is never above it."""
    if value < workers:
        raise UsageError(
            f"{name} {value} is less than one for each of the {workers} workers of the cluster, among which an "
            f"executor divides it. Set at least {workers}, or start fewer workers."
        )
    return value // workers


def worker_limits(settings: Settings, command: str) -> SessionLimits:
    """The limits of a share: its own budget, and rates that go on where the command's last share here left them."""
    return SessionLimits(settings, ledger=MemoryLedger(_lanes.setdefault(command, {})))


def run_share(order: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Run one share of a study, in a worker: ``{"cells": rows}``, or ``{"error": message}``.

    Answers are in the worker's store as they come. A share that is run again asks for what is missing.
    """
    told = StudyOrder(**order)
    with _one_share:  # the calls of one process are followed by what is made of them in one study at a time
        try:
            return {"cells": [each.row() for each in _cells_of(told, number)]}
        except PromptfuzzError as error:
            return {"error": str(error)}


def _cells_of(told: StudyOrder, number: int) -> list[Cell]:
    profiles = profiles_from(read_tool(Path(told.root)).get("profiles", {}), PROFILES)
    whole = read_study(Path(told.file), profiles)
    whole = mitigated(whole, told.mitigate) if told.mitigate else whole
    whole = whole if told.sample is None else sampled(whole, told.sample)
    whole = replace(whole, cells=told.cells)
    if digest_of(whole) != told.digest:
        raise UsageError(f"a worker has another study in {told.file}: give all workers the same files.")
    store = open_store(os.environ.get(STORE), Path(told.cache_dir))
    limits = worker_limits(settings_of(told.limits), told.command)
    try:
        session = Session(
            store=store,
            mode=told.mode,
            embedder=installed_embedder(folder=Path(told.cache_dir)),
            entailment=installed_entailment(None, Path(told.cache_dir)),
            gate=limits,
        )
        prices = limits.settings.prices
        shard = (number, told.shares)
        concurrency = CONCURRENCY if told.concurrency is None else told.concurrency
        return study(whole, session=session, concurrency=concurrency, shard=shard, prices=prices)
    finally:
        store.close()
        limits.close()


def settings_of(given: Mapping[str, Any]) -> Settings:
    """The limits that ``asdict`` made plain data of."""
    own = {pattern: Price(**each) for pattern, each in given["prices"]["own"].items()}
    base = Settings(
        attempts=given["attempts"],
        rule=LaneRule(**given["rule"]),
        rules={pattern: LaneRule(**each) for pattern, each in given["rules"].items()},
        caps=Caps(**given["caps"]),
        max_wait=given["max_wait"],
    )
    return replace(base, prices=replace(base.prices, own=own))


def run_on_dask(
    address: str,
    order: StudyOrder,
    settings: Settings,
    progress: Callable[[int, int], object] | None = None,
) -> list[Cell]:
    """The cells of a study whose units the workers of a Dask cluster run.

    Args:
        address: The scheduler's.
        order: What workers are told; its ``limits`` are made here.
        settings: The limits of the whole.
        progress: Called after each unit with how many are done, and how many there are.

    Raises:
        ConfigurationError: The cluster cannot be reached, has no worker, or lost a unit's worker again and again.
        UsageError: A worker has other files, or a limit cannot be divided.
    """
    distributed = importlib.import_module("distributed")
    try:
        client = distributed.Client(address, timeout=_FOR_WORKERS)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"--executor: no Dask scheduler answers at {address} ({error}).") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_FOR_WORKERS)
        except TimeoutError:
            raise ConfigurationError(f"--executor: the Dask cluster at {address} has no worker.") from None
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        order = order._replace(
            limits=asdict(divided(settings, workers, order.shares)),
            concurrency=max(1, CONCURRENCY // workers)
            if order.concurrency is None
            else _part(order.concurrency, workers, f"{settings.caps.prefix}concurrency"),
            command=uuid4().hex,
        )
        numbers = range(1, order.shares + 1)
        asked = [client.submit(run_share, order._asdict(), each, pure=False) for each in numbers]
        futures = dict(zip(asked, numbers, strict=True))
        found: dict[int, list[Cell]] = {}
        try:
            for future in distributed.as_completed(futures):
                found[futures[future]] = _cells_in(distributed, future)
                if progress is not None:
                    progress(len(found), order.shares)
        finally:
            client.cancel([each for each in futures if not each.done()])
    return [cell for each in numbers for cell in found[each]]


def _cells_in(distributed: Any, future: Any) -> list[Cell]:
    try:
        done: dict[str, Any] = future.result()
    except (distributed.KilledWorker, distributed.client.FutureCancelledError) as error:
        raise ConfigurationError(
            f"--executor: workers died again and again while they ran one unit of the study ({type(error).__name__}). "
            "Answers that came are stored; the same command goes on."
        ) from None
    if "error" in done:
        raise UsageError(done["error"])
    return [cell_of(row, "a worker's cell") for row in done["cells"]]
