"""Each plugin is found, checked and called apart: what one does wrong is a record, and the others work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.discovery import SHIPPED_DISTRIBUTION, discover
from auditor.errors import PluginError
from auditor.event import Event, RunEnded
from auditor.hookspecs import HOOK_VERSIONS
from auditor.plugins import PluginState
from scratch_site import ScratchSite, run_python

GOOD = """
from auditor.plugin import Offer, hookimpl

@hookimpl
def auditor_systems():
    return [Offer("acme", "Acme search", "auditor_good_target:Acme")]
"""


def offering(hook: str, *offers: str, header: str = "") -> str:
    """Source of a plugin whose ``hook`` returns ``offers``."""
    listed = ", ".join(offers)
    return f"from auditor.plugin import Offer, hookimpl\n{header}\n@hookimpl\ndef {hook}():\n    return [{listed}]\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ScratchSite]:
    """An empty scratch site with one good plugin in it, which every test checks to be still there."""
    with ScratchSite(tmp_path) as made:
        made.add("good-plugin", {"auditor_good.py": GOOD, "auditor_good_target.py": ""}, {"good": "auditor_good"})
        yield made
        record = made.record("good")
        assert record.state is PluginState.LOADED and [o.name for o in record.offers] == ["acme"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import not_there_at_all", "not_there_at_all"),
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import sys; sys.exit()", "SystemExit"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("class Odd(BaseException): pass\nraise Odd('odd')", "Odd: odd"),
        ("def broken(:", "SyntaxError"),
        ("import warnings; warnings.warn('x', DeprecationWarning)", "DeprecationWarning: x"),
        ("class Rude(Exception):\n    def __str__(self): return 'rude'\nraise Rude", "Rude: rude"),
    ],
)
def test_import_that_fails_is_a_record(site: ScratchSite, source: str, reason: str) -> None:
    """Whatever a plugin raises at import is its own failure, with the reason; also ``SystemExit``."""
    site.add("bad-plugin", {"auditor_bad.py": source})
    record = site.record("bad")
    assert record.state is PluginState.FAILED
    assert reason in record.reason
    assert (record.distribution, record.version, record.module) == ("bad-plugin", "1.0", "auditor_bad")


def test_an_error_that_cannot_be_printed_is_a_record(site: ScratchSite) -> None:
    """An exception whose own ``__str__`` raises does not get through either."""
    site.add("bad-plugin", {"auditor_bad.py": "class Mute(Exception):\n    def __str__(self): 1 / 0\nraise Mute"})
    record = site.record("bad")
    assert record.state is PluginState.FAILED and "Mute" in record.reason


def test_keyboard_interrupt_gets_through(tmp_path: Path) -> None:
    """Ctrl-C during an import is the user's, not the plugin's."""
    with ScratchSite(tmp_path) as site:
        site.add("slow-plugin", {"auditor_slow.py": "raise KeyboardInterrupt"})
        with pytest.raises(KeyboardInterrupt):
            site.plugins()


def test_every_misspelt_hook_is_named(site: ScratchSite) -> None:
    """All misspelt hooks are listed, each with the nearest right name."""
    source = """
    from auditor.plugin import hookimpl
    @hookimpl
    def auditor_sytems(): return []
    @hookimpl
    def auditor_report_writer(): return []
    @hookimpl
    def auditor_judges(): return []
    """
    site.add("bad-plugin", {"auditor_bad.py": source})
    record = site.record("bad")
    assert record.state is PluginState.REFUSED
    assert "no hook auditor_sytems; the nearest hook is auditor_systems" in record.reason
    assert "no hook auditor_report_writer; the nearest hook is auditor_report_writers" in record.reason
    assert record.offers == ()


@pytest.mark.parametrize("name", ["auditor_systems", "auditor_sytems"])
def test_forgotten_decorator_is_named(site: ScratchSite, name: str) -> None:
    """A function that looks like a hook but is not decorated would be passed over in silence; it is refused."""
    site.add("bad-plugin", {"auditor_bad.py": f"def {name}():\n    return []\n"})
    record = site.record("bad")
    assert record.state is PluginState.REFUSED and f"{name} lacks @hookimpl" in record.reason


def test_helpers_and_imports_are_no_hooks(site: ScratchSite) -> None:
    """A helper with the prefix, and a hook imported from elsewhere, are left alone."""
    source = "from auditor.hookspecs import auditor_systems\ndef auditor_home(): return 1\n"
    site.add("fine-plugin", {"auditor_fine.py": source})
    assert site.record("fine").state is PluginState.LOADED


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("@hookimpl\ndef auditor_systems(config): return []", "auditor_systems asks for config"),
        ("@hookimpl\ndef auditor_systems(*, strict): return []", "auditor_systems asks for strict"),
        ("@hookimpl\ndef auditor_on_event(event, when): return None", "auditor_on_event asks for when"),
        ("@hookimpl\nasync def auditor_systems(): return []", "async"),
        ("@hookimpl(wrapper=True)\ndef auditor_systems(): return (yield)", "wrapper"),
        (
            "@hookimpl\ndef auditor_systems(): return []\n@hookimpl(specname='auditor_systems')\ndef more(): return []",
            "auditor_systems is implemented 2 times",
        ),
    ],
)
def test_wrong_signature_is_refused(site: ScratchSite, definition: str, reason: str) -> None:
    """A hook that cannot be called as specified is refused before it is called, with the signature it should have."""
    site.add("bad-plugin", {"auditor_bad.py": f"from auditor.plugin import hookimpl\n{definition}\n"})
    record = site.record("bad")
    assert record.state is PluginState.REFUSED and reason in record.reason


@pytest.mark.parametrize("fault", ["1 / 0", "raise SystemExit('leaving')", "raise KeyError"])
def test_hook_that_raises_is_a_record(site: ScratchSite, fault: str) -> None:
    """A hook that raises takes its plugin out, whole, and no other."""
    source = f"""
    from auditor.plugin import Offer, hookimpl
    @hookimpl
    def auditor_judges(): return [Offer("fine", "Fine", "m:o")]
    @hookimpl
    def auditor_systems(): {fault}
    """
    site.add("bad-plugin", {"auditor_bad.py": source})
    record = site.record("bad")
    assert record.state is PluginState.FAILED and "auditor_systems raised" in record.reason
    assert record.offers == ()


@pytest.mark.parametrize("value", ["None", "'acme'", "[('a', 'b', 'm:o')]", "{'a': 1}", "iter([])", "Offer"])
def test_wrong_return_type_is_refused(site: ScratchSite, value: str) -> None:
    """A hook that returns anything but a list of offers is refused, with what it returned."""
    source = f"from auditor.plugin import Offer, hookimpl\n@hookimpl\ndef auditor_systems(): return {value}\n"
    site.add("bad-plugin", {"auditor_bad.py": source})
    record = site.record("bad")
    assert record.state is PluginState.REFUSED and "not a list of Offer" in record.reason


@pytest.mark.parametrize(
    ("offer", "reason"),
    [
        ("Offer('new', 'New', 'm:o', api=99)", "written for version 99 of the hook; this auditor has 1"),
        ("Offer('old', 'Old', 'm:o', api=0)", "hook version 0"),
        ("Offer('Upper', 'Upper', 'm:o')", "'Upper' is no name"),
        ("Offer('\\x1b[31m', 'Red', 'm:o')", "is no name"),
        ("Offer(3, 'Three', 'm:o')", "3 is no name"),
        ("Offer('a', 'Two\\nlines', 'm:o')", "printable one-line summary"),
        ("Offer('a', '', 'm:o')", "printable one-line summary"),
        ("Offer('a', 'No target', 'module')", "not at package.module:object"),
    ],
)
def test_bad_offer_is_refused_alone(site: ScratchSite, offer: str, reason: str) -> None:
    """An offer that cannot be used is refused with the reason; the plugin's other offers stay."""
    site.add("bad-plugin", {"auditor_bad.py": offering("auditor_systems", offer, "Offer('kept', 'Kept', 'm:o')")})
    record = site.record("bad")
    assert record.state is PluginState.REFUSED and reason in record.reason
    assert [o.name for o in record.offers] == ["kept"]


def test_equal_names_are_all_refused(site: ScratchSite) -> None:
    """Two third parties with one name: neither gets it, whatever the order; their other offers stay."""
    for name in ("one", "two"):
        offers = ("Offer('twin', 'Twin', 'm:o')", f"Offer('{name}', 'Own', 'm:o')")
        site.add(f"plugin-{name}", {f"auditor_{name}.py": offering("auditor_systems", *offers)})
    assert [o.name for o in site.plugins().systems()] == ["acme", "one", "two"]
    for name, other in (("one", "plugin-two"), ("two", "plugin-one")):
        record = site.record(name)
        assert record.state is PluginState.REFUSED
        assert f"'twin' is also brought by {other}" in record.reason


def test_one_name_under_two_hooks_is_fine(site: ScratchSite) -> None:
    """Names are unique within a hook: a sandbox carries the name of the system it stands in for."""
    site.add("twin-plugin", {"auditor_twin.py": offering("auditor_sandboxes", "Offer('acme', 'Twin', 'm:o')")})
    assert site.record("twin").state is PluginState.LOADED


def test_equal_entry_points_are_all_refused(site: ScratchSite) -> None:
    """Two distributions with one entry-point name: neither is imported."""
    for name in ("one", "two"):
        site.add(f"plugin-{name}", {f"auditor_{name}.py": "raise AssertionError"}, {"twin": f"auditor_{name}"})
    for name in ("plugin-one", "plugin-two"):
        record = site.record("twin", name)
        assert record.state is PluginState.REFUSED and "all of them are refused" in record.reason


def test_shipped_names_cannot_be_taken(site: ScratchSite) -> None:
    """A third party cannot take a shipped offer's name, a shipped entry point's name, or a name of the core."""
    shipped = discover()  # cached before the scratch site was entered
    taken = next(o for r in shipped.records if r.distribution == SHIPPED_DISTRIBUTION for o in r.offers)
    site.add("thief-plugin", {"auditor_thief.py": offering(taken.hook, f"Offer('{taken.name}', 'Mine', 'm:o')")})
    site.add("mask-plugin", {"auditor_mask.py": "raise AssertionError"}, {"local": "auditor_mask"})
    site.add("core-plugin", {"auditor_core.py": offering("auditor_label_kinds", "Offer('verdict', 'Mine', 'm:o')")})
    thief = site.record("thief", shipped=True)
    assert thief.state is PluginState.REFUSED and "is shipped with rag-auditor" in thief.reason
    mask = site.record("local", "mask-plugin", shipped=True)
    assert mask.state is PluginState.REFUSED and "is shipped with rag-auditor" in mask.reason
    core = site.record("core", shipped=True)
    assert core.state is PluginState.REFUSED and "a name of the core" in core.reason
    site.add("run-plugin", {"auditor_runs.py": offering("auditor_commands", "Offer('run', 'Mine', 'm:o')")})
    assert "a name of the core" in site.record("runs", shipped=True).reason
    both = site.plugins(shipped=True)
    assert both.find(taken.hook, taken.name).distribution == SHIPPED_DISTRIBUTION
    assert [r for r in both.records if r.distribution == SHIPPED_DISTRIBUTION] == list(shipped.records)


@pytest.mark.parametrize("content", [b"[auditor]\nno equals sign\n", b"\xff\xfe[auditor]", b"[auditor]\nbad = a b c\n"])
def test_broken_metadata_is_a_record(site: ScratchSite, content: bytes) -> None:
    """An ``entry_points.txt`` that cannot be read does not hide the other distributions."""
    site.add_raw("broken-plugin", content)
    records = [r for r in site.plugins().records if r.distribution == "broken-plugin"]
    assert [r.state for r in records] == [PluginState.FAILED] and records[0].reason


def test_what_a_plugin_prints_is_not_our_output(site: ScratchSite, capsys: pytest.CaptureFixture[str]) -> None:
    """Noise at import and in hooks goes to standard error: a script reads our standard output."""
    noisy = offering("auditor_systems", header="print('NOISE')").replace("    return", "    print('MORE')\n    return")
    site.add("noisy-plugin", {"auditor_noisy.py": noisy})
    assert site.record("noisy").state is PluginState.LOADED
    captured = capsys.readouterr()
    assert captured.out == "" and "NOISE" in captured.err and "MORE" in captured.err


def test_unknown_name_gives_the_nearest_and_what_is_broken(site: ScratchSite) -> None:
    """A name that nobody offers is an error with near names, and with what did not load: it may be the cause."""
    site.add("bad-plugin", {"auditor_bad.py": "raise RuntimeError('boom')"})
    with pytest.raises(PluginError, match=r"unknown system kind 'acmee': did you mean acme\?.*bad: import: .*boom"):
        site.plugins().system("acmee")


@pytest.mark.parametrize(
    ("target", "source", "reason"),
    [
        ("auditor_wrong_target:Nothing", "", "AttributeError"),
        ("auditor_absent:Nothing", "", "ModuleNotFoundError"),
        ("auditor_wrong_target:it", "import sys; sys.exit(1)", "SystemExit"),
        ("auditor_wrong_target:it", "it = 3", "no subclass of auditor.system.System"),
        ("auditor_wrong_target:it", "class it: pass", "no subclass of auditor.system.System"),
        (
            "auditor_wrong_target:it",
            "from auditor.system import System\nclass it(System): pass",
            "does not define ask, open, traits",
        ),
        (
            "auditor_wrong_target:it",
            "from auditor.system import System\nclass it(System):\n    traits = ask = open = None",
            "has no config_model",
        ),
    ],
)
def test_target_that_breaks_its_contract(site: ScratchSite, target: str, source: str, reason: str) -> None:
    """What an offer points at is held against the contract when it is loaded; the error names plugin and target."""
    offers = offering("auditor_systems", f"Offer('wrong', 'Wrong', '{target}')")
    site.add(
        "wrong-plugin", {"auditor_wrong.py": offers, "auditor_wrong_target.py": source}, {"wrong": "auditor_wrong"}
    )
    with pytest.raises(PluginError, match=reason) as caught:
        site.plugins().system("wrong")
    assert "wrong" in str(caught.value)


def test_analysis_must_carry_its_offers_name(site: ScratchSite) -> None:
    """An analysis that calls itself otherwise could write another's section; it is refused when loaded."""
    source = "from auditor.analysis import Analysis\nclass A(Analysis):\n    name = 'penalty'\n    analyse = None\n"
    offers = offering("auditor_analyses", "Offer('mine', 'Mine', 'auditor_wrong_target:A')")
    site.add(
        "wrong-plugin", {"auditor_wrong.py": offers, "auditor_wrong_target.py": source}, {"wrong": "auditor_wrong"}
    )
    with pytest.raises(PluginError, match="calls itself 'penalty'"):
        site.plugins().analysis("mine")


def test_observer_that_raises_is_called_once(site: ScratchSite) -> None:
    """An observer that raises is recorded and not called again; the others hear every event."""
    header = "from auditor.plugin import hookimpl\nheard = []\n"
    bad = "@hookimpl\ndef auditor_on_event(event):\n    heard.append(event)\n    raise SystemExit('stop')\n"
    good = "@hookimpl\ndef auditor_on_event(event):\n    heard.append(event)\n"
    short = "@hookimpl\ndef auditor_on_event():\n    heard.append(None)\n"
    for name, body in (("raises", bad), ("listens", good), ("counts", short)):
        site.add(f"{name}-plugin", {f"auditor_{name}.py": header + body})
    plugins = site.plugins()
    events: list[Event] = [RunEnded("r", complete=True), RunEnded("r", complete=False)]
    for event in events:
        plugins.notify(event)
    heard = {name: sys.modules[f"auditor_{name}"].heard for name in ("raises", "listens", "counts")}
    assert heard == {"raises": events[:1], "listens": events, "counts": [None, None]}
    states = {record.name: (record.state, record.reason) for record in plugins.records}
    assert states["raises"] == (PluginState.FAILED, "auditor_on_event: SystemExit: stop")
    assert states["listens"][0] is PluginState.LOADED


def test_hooks_are_recorded_with_their_versions(site: ScratchSite) -> None:
    """``auditor plugins`` and the protocol name each hook with the version of its contract."""
    assert [(h.name, h.version) for h in site.record("good").hooks] == [
        ("auditor_systems", HOOK_VERSIONS["auditor_systems"])
    ]


def test_result_is_cached() -> None:
    """Plugins are found once a process."""
    assert discover() is discover()


def test_shipped_plugins_load() -> None:
    """Everything that the project ships is loaded, and every offer of it keeps its contract."""
    for record in discover().records:
        if record.distribution == SHIPPED_DISTRIBUTION:
            assert record.state is PluginState.LOADED, record.reason
            for offered in record.offers:
                offered.load()


def test_every_hook_has_its_method() -> None:
    """The façade has a listing for each hook that returns offers."""
    plugins = discover()
    for hook in HOOK_VERSIONS:
        if hook != "auditor_on_event":
            listed = getattr(plugins, hook.removeprefix("auditor_"))()
            assert listed == plugins.offered(hook)


def test_a_plugin_that_exits_does_not_end_the_program(tmp_path: Path) -> None:
    """In a process of its own: discovery ends with code 0 beside a plugin that calls ``sys.exit`` at import."""
    site = ScratchSite(tmp_path)
    site.add("exit-plugin", {"auditor_exit.py": "import sys; sys.exit(7)"})
    code = (
        "from auditor.discovery import discover; print([r.state.value for r in discover().records if r.name == 'exit'])"
    )
    done = run_python("-c", code, path=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "['failed']"), done.stderr
