"""The playground of the site in a browser: its sliders choose among recorded runs."""

import importlib

import pytest
from documents import ROOT

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(ROOT / "docs"))
    playground_runs = importlib.import_module("playground_runs")

PAGE = """<!doctype html><div class="playground" data-name="oscillator"></div>
<script>{script}</script><script>{runs}</script>"""
COLOURED = """() => {
    const canvas = document.querySelector("canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return { count: pixels.filter((value, k) => k % 4 === 3 && value > 0).length };
}"""


@pytest.mark.slow
def test_sliders_choose_a_run(tab, tmp_path, monkeypatch):
    run, _, picture = playground_runs.PLAYGROUNDS["oscillator"]
    sliders = {"steps": [20, 40], "drag": [0.0, 1.0]}
    monkeypatch.setitem(playground_runs.PLAYGROUNDS, "oscillator", (run, sliders, picture))
    script = (ROOT / "docs" / "static" / "playground.js").read_text("utf-8")
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(script=script, runs=playground_runs.text_of("oscillator")), "utf-8")
    tab.page.goto(page.as_uri())
    said = tab.page.locator(".playground p")
    steps, drag = tab.page.locator("input[type=range]").all()
    assert said.text_content() == run(40, 0.0)["said"]
    drag.fill("1")
    assert said.text_content() == run(40, 1.0)["said"]
    steps.fill("0")
    assert said.text_content() == run(20, 1.0)["said"]
    assert tab.page.locator("label span").all_text_contents() == ["steps: 20", "drag: 1"]
    assert tab.evaluate(COLOURED)["count"] > 1000
    tab.page.get_by_role("button").click()
    assert tab.page.get_by_role("button").text_content() == "play"
