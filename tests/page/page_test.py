#!/usr/bin/python3
"""Opens pages of `assay page` in a browser and checks that they show what the reports contain.

    tests/page/page_test.py ASSAY OUT [unittest arguments]     ASSAY: the binary; OUT: a folder for pages and screenshots
    tests/page/page_test.py ASSAY OUT --picture FILE           write the picture for README.md instead

Needs Debian's chromium, chromium-driver and python3-selenium. Run it from the repository's root.
"""
import collections
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import readable_test
from browser import BrowserTest, HERE, PUBLISHED, Page, start_browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&\u2028</title>"


def rows_of(folder, name):
    with open(folder / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def synthetic(folder, *options):
    """Makes the folder anew with reports of invented runs, and returns its journals: by night, then by device."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([HERE / "synthetic.py", folder, *options], check=True)
    return sorted(folder.glob("*/*/journal.jsonl"))


def edit(journal, change):
    """Puts what change(event) returns in the place of each event of a journal; None takes it out."""
    events = [change(json.loads(line)) for line in journal.read_text(encoding="utf-8").splitlines()]
    journal.write_text("".join(json.dumps(event) + "\n" for event in events if event), encoding="utf-8")


def ended(status, *rows):
    """A change for edit(): these rows end with this status, and nothing of them is judged if they crash."""
    def change(event):
        if event.get("row") not in rows:
            return event
        if event["event"] == "end":
            return dict(event, status=status, reason="for a test")
        return None if status == "CRASH" and event["event"] == "judged" else event
    return change


def with_layer(calls, robust=False):
    """A change for edit(): row 3 is a layer of a model; the run is with robust access or not."""
    def change(event):
        if event["event"] == "run":
            return dict(event, robust_access=robust)
        if event["event"] != "plan":
            return event
        layer = {"model": "net", "layer": "only", "calls": calls, "tokens": 1}
        return dict(event, rows=[dict(row, **layer) if number == 3 else row for number, row in enumerate(event["rows"])])
    return change


def only_impl(place, robust):
    """A change for edit(): only the rows of one of three impls are left; the run is with robust access or not."""
    def change(event):
        if event["event"] == "run":
            return dict(event, robust_access=robust)
        if event["event"] == "plan":
            return dict(event, rows=event["rows"][place::3])
        if "row" not in event:
            return event
        return dict(event, row=event["row"] // 3) if event["row"] % 3 == place else None
    return change


class Published:
    """The rows of the published reports, read from CSV files; the page is made from their journals.

    accu.csv is not published: `assay report` makes the files of copies in `out`."""

    def __init__(self, assay, out):
        self.perf, self.accu = [], []
        for published in sorted(path.parent for path in PUBLISHED.glob("*/run.json")):
            folder = out / published.name
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(published / "journal.jsonl.zst", folder)
            subprocess.run([assay, "report", folder], check=True, stdout=subprocess.DEVNULL)
            uuid = json.loads((folder / "run.json").read_text(encoding="utf-8"))["device"]["uuid"]
            for rows, name in ((self.perf, "perf.csv"), (self.accu, "accu.csv")):
                for row in rows_of(folder, name):
                    rows.append(dict(row, key=uuid))

    def timed(self):
        return [row for row in self.perf if row["gbps"]]

    def by_device(self, rows):
        counts = collections.OrderedDict()
        for row in rows:
            counts.setdefault(row["key"], []).append(row)
        return counts


class PublishedPage(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reports = Published(cls.assay, cls.out / "reports")
        cls.page = cls.made(cls, "published", PUBLISHED)

    def setUp(self):
        self.page.open()

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def devices(self):
        return self.page.script("return [...document.querySelector('#roofline select').options].map(one => one.value)")

    def test_every_row_of_the_reports_is_there(self):
        self.assertEqual(self.page.matching(), len(self.reports.perf) + len(self.reports.accu))
        self.assertEqual(self.page.count(".card"), len(self.reports.by_device(self.reports.accu)))

    def test_a_models_steps_are_the_sums_of_its_layers_and_lead_to_its_rows(self):
        def us_of(rows):
            return sum(float(row["time_us_p50"]) * int(row["calls"]) for row in rows)

        layers = self.reports.by_device([row for row in self.reports.timed() if row["model"] == "resnet_50"])
        rows = min(layers.values(), key=us_of)
        us = us_of(rows)
        models = self.page.texts("#models summary b")
        self.assertEqual(models, sorted({row["model"] for row in self.reports.perf if row["layer"]}))
        number = models.index("resnet_50") + 1
        self.page.click(f"#models details:nth-of-type({number}) summary")
        cells = self.page.texts(f"#models details:nth-of-type({number}) tbody tr:first-child > *")
        self.assertEqual(cells[0], rows[0]["device"].removeprefix("NVIDIA "))
        self.assertAlmostEqual(float(cells[1]), us / 1000, delta=us / 1e6)
        self.assertEqual(cells[2], "1.00×")
        self.assertLess(float(cells[3]), float(cells[1]))
        self.assertEqual(cells[5], f"{len(rows)} of {len(rows)}")
        self.assertIn("q8ta_conv2d_pw + q8ta_conv2d, i8, cold", cells[6])
        parts = self.page.script("return [...document.querySelectorAll('#models details[open] tbody tr:first-child .part')].map("
                                 "part => part.getBoundingClientRect().width)")
        self.assertEqual(len(parts), 2)
        self.assertGreater(min(parts), 10, "each op has its part of the bar")
        self.page.click("#models details[open] tbody a")
        self.assertEqual(self.page.matching(), len(rows))

    def test_the_heat_map_has_a_cell_for_each_op_that_a_device_timed(self):
        cells = {(row["op"], row["key"]) for row in self.reports.timed() if row["pct_peak_bw"] or row["pct_peak_ops"]}
        self.page.go(measure="share")
        self.assertEqual(self.page.count("#heat-map td.heat"), len(cells))
        self.page.go(measure="ratio:H200")
        keys = collections.defaultdict(set)
        for row in self.reports.timed():
            keys[row["case"], row["cache"], row["group"]].add(row["key"])
        reference = next(row["key"] for row in self.reports.timed() if row["device"].endswith("H200"))
        cells = {(case[0].split("/")[0], key) for case, devices in keys.items() if len(devices) > 1 and reference in devices
                 for key in devices}
        self.assertEqual(self.page.count("#heat-map td.heat"), len(cells))

    def test_the_roofline_has_a_mark_for_each_timed_row_of_every_device(self):
        drawn = []
        for device in self.devices():
            self.page.go(roof=device)
            drawn.append((self.page.count("#roofline-bandwidth .point"), self.page.count("#roofline-compute .point")))
        expected = [(len(rows), sum(1 for row in rows if row["gops"])) for rows in self.reports.by_device(self.reports.timed()).values()]
        self.assertEqual(sorted(drawn), sorted(expected))

    def test_two_rooflines_are_in_one_picture(self):
        first, second, *_ = self.devices()
        counts = {}
        for device in (first, second):
            self.page.go(roof=device, beside="")
            counts[device] = self.page.count("#roofline-bandwidth .point")
            self.assertEqual(self.page.count("#roofline .beside"), 0)
        self.page.go(roof=first, beside=second)
        for place, device in enumerate((first, second)):
            self.assertEqual(self.page.count(f"#roofline-bandwidth .point.kind-{place}"), counts[device])
        self.assertEqual(self.page.count("#roofline-bandwidth .point.hollow"), counts[second], "they do not hide the others")
        for device, text in zip((first, second), self.page.texts("#roofline .legend li"), strict=True):
            self.assertRegex(text, rf"^{device} \(memory, [0-9.k]+ GB/s")
        solid, dashed = (self.page.count(f"#roofline-compute line.roof{kind}") for kind in (".kind-0:not(.beside)", ".kind-1.beside"))
        self.assertGreater(min(solid, dashed), 1, "each device has its slopes and roofs")
        self.assertEqual(self.page.count("#roofline-bandwidth path.curve"), 2)
        self.page.go(roof=first, beside=first)
        self.assertEqual(self.page.count("#roofline-bandwidth .point"), counts[first], "a device is not beside itself")

    def test_marks_lie_inside_of_their_picture(self):
        outside = """return [...document.querySelectorAll('#roofline svg .point')].filter(mark => {
            const box = mark.getBoundingClientRect(), frame = mark.ownerSVGElement.getBoundingClientRect();
            return !(box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom);
        }).length"""
        self.assertEqual(self.page.script(outside), 0)

    def test_imprecise_times_are_marked(self):
        imprecise = [row for row in self.reports.timed() if float(row["ci_pct"]) > 10 or int(row["blocks"]) < 5]
        row = imprecise[0]
        self.page.go(q=row["case"], device="llvmpipe")
        self.assertEqual(row["device"].split(" ")[0], "llvmpipe")
        marked = self.page.texts("#all-rows .imprecise")
        self.assertGreaterEqual(len(marked), 1)
        self.assertTrue(all(text.startswith("≈") for text in marked), marked)
        self.page.go(row=f"llvmpipe:perf{',cold' if row['cache'] == 'cold' else ''}:{row['case']}")
        self.assert_soon(lambda: self.page.texts("#row-part .imprecise"), lambda texts: len(texts) == 1 and "Do not decide from it" in texts[0])
        self.page.go(device="H200")
        self.assertEqual(self.page.count("#all-rows .imprecise"), 0)

    def test_impls_have_a_mark_each(self):
        groups = collections.defaultdict(list)
        for row in self.reports.timed():
            if row["op"] != "q8ta_linear" or not row["device"].endswith("H200"):
                continue
            groups[row["group"], row["forms"], row["cache"], row["tune"], row["case"].split("/")[1]].append(row)
        marks = sum(len(rows) for rows in groups.values() if len({row["impl"] for row in rows}) > 1)
        self.page.go(**{"impls-on": "H200", "impls-op": "q8ta_linear", "impls-all": "1"})
        self.assertEqual(self.page.count("#impls td .point"), marks)

    def test_statuses_add_up_to_all_rows(self):
        counts = collections.Counter()
        for text in self.page.texts("#accuracy .counts a"):
            status, number = text.split(" ")
            counts[status] += int(number.replace("\u202f", ""))
        self.assertEqual(counts, collections.Counter(row["status"] for row in self.reports.perf + self.reports.accu))
        self.assertEqual(self.page.count("#accuracy rect.bar"), self.page.count("#accuracy .counts a"))

    def test_a_row_shows_its_samples(self):
        row = next(row for row in self.reports.timed() if row["op"] == "q8ta_linear" and row["device"].endswith("H200"))
        cache = ",cold" if row["cache"] == "cold" else ""
        self.page.go(row=f"H200:perf{cache}:{row['case']}", to="row")
        self.assertEqual(self.page.text("#row-title"), row["case"])
        self.assertEqual(self.page.count(".samples .box"), int(row["blocks"]))
        self.assertEqual(self.page.count(".samples .sample"), int(row["samples"]))
        facts = dict(zip(self.page.texts(".facts tbody th"), self.page.texts(".facts tbody td:nth-child(2)")))
        for column in ("time_us_p50", "ci_pct", "gbps", "limited_by", "program_hash", "shape"):
            self.assertEqual(facts[column], row[column])
        self.assertEqual(self.page.text(".repro code"), row["repro"])

    def test_filters_live_in_the_url(self):
        self.page.script("""const select = document.getElementById("filter-op"); select.value = "q8ta_add";
                            select.dispatchEvent(new Event("change"));""")
        expected = sum(1 for row in self.reports.perf + self.reports.accu if row["op"] == "q8ta_add")
        self.assert_soon_equal(lambda: self.page.state().get("op"), "q8ta_add")
        self.assert_soon_equal(self.page.matching, expected)
        self.page.open({"op": "q8ta_add"})
        self.assertEqual(self.page.matching(), expected)
        self.assertEqual(self.page.script("return document.getElementById('filter-op').value"), "q8ta_add")
        self.page.click("#clear")
        self.assert_soon_equal(self.page.matching, len(self.reports.perf) + len(self.reports.accu))

    def test_the_search_takes_parts_and_globs(self):
        rows = self.reports.perf + self.reports.accu
        self.page.open({"q": "Pixel_Shuffle/small"})
        self.assertEqual(self.page.matching(), sum(1 for row in rows if "pixel_shuffle/small" in row["case"]))
        self.page.open({"q": "pixel_shuffle/*/direct"})
        self.assertEqual(self.page.matching(),
                         sum(1 for row in rows if row["case"].startswith("pixel_shuffle/") and row["case"].endswith("/direct")))

    def test_a_glob_of_many_stars_from_a_link_is_quick(self):
        self.page.open({"q": "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*z"})
        self.assertEqual(self.page.matching(), 0)
        rows = self.reports.perf + self.reports.accu
        for glob, fits in (("*", lambda case: True), ("?*shuffle*", lambda case: "shuffle" in case[1:]),
                           ("*shuffle*sma?l*", lambda case: "small" in case.partition("shuffle")[2]),
                           ("*.4c1w/*", lambda case: ".4C1W/" in case), ("q8ta_add?", lambda case: False)):
            self.page.open({"q": glob})
            self.assertEqual(self.page.matching(), sum(1 for row in rows if fits(row["case"])), glob)

    def test_a_cell_of_the_heat_map_leads_to_its_rows(self):
        self.page.click("#heat-map td.heat a")
        state = self.assert_soon(self.page.state, lambda state: state.get("to") == "rows")
        self.assertEqual(state["mode"], "perf")
        self.assert_soon_equal(lambda: set(self.page.texts("#all-rows tbody td:nth-child(3)")), {state["device"]})
        self.assert_soon_equal(lambda: self.page.script("return document.activeElement.id"), "rows-heading")

    def test_tables_sort_and_save_what_they_show(self):
        self.page.open({"mode": "perf", "op": "q8ta_linear"})
        button = "#all-rows th:nth-child(5) button"
        self.assertEqual(self.page.text(button), "µs")
        for direction in ("ascending", "descending"):
            self.page.click(button)
            self.assert_soon_equal(
                lambda: self.page.script("return document.querySelector('#all-rows th:nth-child(5)').ariaSort"), direction)
            times = [float(text.replace("\u202f", "").lstrip("≈ ")) for text in self.page.texts("#all-rows tbody td:nth-child(5)")]
            self.assertEqual(times, sorted(times, reverse=direction == "descending"))
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(self.out.resolve())})
        saved = self.out / "rows.csv"
        saved.unlink(missing_ok=True)
        self.page.click("#all-rows .save")
        matching = self.page.matching()
        rows = self.assert_soon(lambda: rows_of(self.out, saved.name), lambda rows: len(rows) == matching, f"{matching} rows of {saved}")
        self.assertEqual({row["case"].split("/")[0] for row in rows}, {"q8ta_linear"})

    def test_the_keyboard_reads_and_opens_marks(self):
        picture = self.browser.find_element(By.CSS_SELECTOR, "#roofline-bandwidth svg")
        self.page.script("arguments[0].focus()", picture)
        picture.send_keys(Keys.ARROW_RIGHT)
        told = self.assert_soon(lambda: self.page.text("#roofline-bandwidth .told"), lambda text: "GB/s" in text)
        picture.send_keys(Keys.ARROW_RIGHT)
        self.assert_soon(lambda: self.page.text("#roofline-bandwidth .told"), lambda text: text != told)
        picture.send_keys(Keys.ENTER)
        row = self.assert_soon(lambda: self.page.state().get("row"), lambda row: row, "the row in the URL")
        self.assert_soon(lambda: self.page.text("#row-title"), lambda title: title and title in row)

    def test_everything_has_a_name_for_screen_readers(self):
        nameless = """return [...document.querySelectorAll("select, input, button, svg[role], table, .scroll")].filter(node =>
            !(node.getAttribute("aria-label") || node.textContent.trim() || node.closest("label") || node.caption)).length"""
        self.assertEqual(self.page.script(nameless), 0)
        self.assertEqual(self.page.script("return document.documentElement.lang"), "en")
        self.assertEqual(self.page.count("table:not(:has(caption))"), 0)
        self.assertEqual(self.page.count("thead th:not([scope])"), 0)

    def test_text_stands_out_from_its_background(self):
        contrasts = """
            const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
            const parse = (color) => {
              canvas.clearRect(0, 0, 1, 1);
              canvas.fillStyle = color;
              canvas.fillRect(0, 0, 1, 1);
              return [...canvas.getImageData(0, 0, 1, 1).data];
            };
            const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
              .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const back = (node) => {
              for (; node; node = node.parentElement) {
                const color = parse(getComputedStyle(node).backgroundColor);
                if (color[3] > 0) return color;
              }
              return [255, 255, 255];
            };
            return [...document.querySelectorAll("td a, td, th, .note, dt, .tile, figcaption, label span, caption, .status")].map(node => {
              const [a, b] = [light(parse(getComputedStyle(node).color)), light(back(node))].sort((x, y) => y - x);
              return [(a + 0.05) / (b + 0.05), node.className || node.tagName];
            }).filter(([ratio]) => ratio < 4.5);"""
        for scheme in ("light", "dark"):
            self.page.open({}, 1280, scheme)
            self.assertEqual(self.page.script(contrasts), [], scheme)

    def test_it_fits_both_widths(self):
        self.assert_no_overflow(self.page, "published")


class NightsPage(BrowserTest):
    """Synthetic nights: a base, failures, a history."""

    nights = 12
    rows = 300

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.out / "nights"
        shutil.rmtree(cls.folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", cls.folder, "--nights", str(cls.nights), "--rows", str(cls.rows), "--journals", "3"], check=True)
        cls.page = cls.made(cls, "nights", *sorted(cls.folder.iterdir()))

    def setUp(self):
        self.page.open()

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def test_the_verdict_counts_and_leads_to_its_rows(self):
        tiles = self.page.texts(".card:first-child .tile")
        self.assertEqual(tiles[:3], ["1 failure", "3 SLOWER", "1 BROKEN"])
        self.page.click(".card:first-child .tile:nth-child(2) a")
        self.assert_soon_equal(self.page.matching, 3)
        self.assert_soon_equal(lambda: set(self.page.texts("#all-rows .verdict")), {"SLOWER"})

    def test_a_filter_that_a_link_sets_has_a_control_that_takes_it_off(self):
        shown = lambda key: self.page.script("return !document.getElementById(arguments[0]).closest('label').hidden", f"filter-{key}")
        self.assertTrue(shown("failure"), "one value, which other rows do not have")
        self.assertFalse(shown("tier"), "all rows have the same one")
        self.page.click(".card:first-child .failure-groups > li a")
        name = self.assert_soon(lambda: self.page.state().get("failure"), lambda name: name)
        self.page.wait()
        self.assertEqual(self.page.script("return document.getElementById('filter-failure').value"), name)
        for key, value, matching in (("tier", "nightly", 2 * self.rows), ("op", "no such op", 0)):
            self.page.open({key: value})
            self.assertTrue(shown(key), key)
            self.assertEqual(self.page.script("return document.getElementById(arguments[0]).value", f"filter-{key}"), value)
            self.assertEqual(self.page.matching(), matching)
        self.page.open({"tier": "nightly"})
        self.page.choose("#filter-tier", "")
        self.assert_soon_equal(lambda: shown("tier"), False)

    def test_rows_show_their_energy_where_a_device_told_it(self):
        heads = lambda: self.page.texts("#all-rows thead button")
        self.page.open({"mode": "perf", "device": "Acme GPU 1"})
        self.assertNotIn("J", heads())
        self.page.open({"mode": "perf", "op": "linear_int8"})
        self.assert_soon(heads, lambda texts: {"J", "GOP/J", "W"} <= set(texts))
        column = lambda head: self.page.texts(f"#all-rows tbody tr > :nth-child({heads().index(head) + 1})")
        rows = list(zip(*(column(head) for head in ("device", "µs", "J", "W"))))
        self.assertEqual({device for device, *_ in rows}, {"Acme GPU 1", "Acme GPU 2"})
        for device, time, joules, watts in rows:
            self.assertEqual(watts, "120" if device == "Acme GPU 2" else "")
            if device == "Acme GPU 2":
                self.assertAlmostEqual(float(joules) / float(time.replace("\u202f", "")), 120e-6, delta=1e-6)

    def test_failures_are_grouped_with_a_reason_and_lead_to_their_rows(self):
        self.assertEqual(self.page.count(".card:first-child .failure-groups > li"), 1)
        self.assertRegex(self.page.text(".card:first-child .failure-groups > li"),
                         r"FAIL 1 of \d+ rows? of .*; new since the run before")
        self.page.click(".card:first-child .failure-groups > li a")
        self.assert_soon_equal(self.page.matching, 1)
        self.assert_soon_equal(lambda: set(self.page.texts("#all-rows .status")), {"FAIL"})

    def test_a_failures_part_shows_its_map_and_how_to_run_it_again(self):
        self.page.open({"status": "failing", "device": "Acme GPU 1"})
        self.page.click("#failures summary")
        self.assert_soon(lambda: self.page.text("#failures pre"), lambda text: "expected 9, got 10" in text)
        self.page.click("#failures a")
        self.assert_soon_equal(lambda: self.page.count(".error-map .tile"), 50)
        self.assertEqual(self.page.count(".error-map .share-0"), 32)
        self.assertEqual(self.page.count(".error-map .share-10"), 2)
        self.assert_soon(lambda: self.page.text(".repro code"), lambda text: "assay run" in text)
        self.page.click(".repro button")
        self.assert_soon(lambda: self.page.text(".repro button"), lambda text: text in ("Copied", "Press Ctrl+C"))

    def test_a_slower_row_shows_both_sides_and_every_night(self):
        self.page.open({"verdict": "SLOWER", "device": "Acme GPU 1"})
        self.page.click("#all-rows tbody th a")
        self.assert_soon_equal(lambda: self.page.count(".now .sample"), 70)
        self.assertEqual(self.page.count(".before .sample"), 70)
        times = ".history:nth-of-type(2)"
        self.assert_soon_equal(lambda: self.page.count(f"{times} .change"), 3)
        self.assertEqual(self.page.count(".history circle.night"), self.nights * self.page.count(".history"))
        self.assertEqual(self.page.count(f"{times} .change-driver"), 1)
        self.assertIn("separation", self.page.text("#row-part details"))

    def test_the_plan_of_a_chain_is_drawn(self):
        self.page.open({"row": "Acme GPU 1:perf:dequantize_rows/case1/128x1024/4W4C.4W4C/tiled"})
        self.assert_soon_equal(lambda: self.page.count(".plan .step"), 3)
        self.assertEqual(self.page.count(".plan .transition"), 1)
        self.assertEqual(self.page.count(".plan .tensor"), 4, "x is read twice, a in both forms once")
        texts = self.page.texts(".plan .step text")
        self.assertIn("conv: conv_pointwise/gemm to a as buffer/4W4C", texts)
        self.assertIn("copy to a as buffer/4C", texts)
        widths = [float(width) for width in self.page.script(
            "return [...document.querySelectorAll('.plan .share')].map(bar => bar.getAttribute('width'))")]
        self.assertAlmostEqual(widths[0], 3 * widths[1], delta=1)
        self.assertEqual(widths[2], 0, "its time is not known")
        self.assertIn("nothing runs for them: keep", " ".join(self.page.texts("#row-part figcaption")))
        self.assert_no_overflow(self.page, "plan")

    def test_tick_labels_of_a_vertical_axis_differ(self):
        self.page.open({"verdict": "SLOWER", "device": "Acme GPU 1"})
        self.page.click("#all-rows tbody th a")
        axes = self.assert_soon(lambda: self.page.script("""return [...document.querySelectorAll(".samples .axis, .history .axis")].filter(
            axis => axis.getAttribute("transform").endsWith(",0)")).map(axis => [...axis.querySelectorAll(".tick text")].map(label => label.textContent).filter(text => text))"""),
            lambda axes: axes, "the vertical axes")
        for labels in axes:
            self.assertEqual(len(labels), len(set(labels)), labels)

    def test_it_fits_both_widths_with_a_row_open(self):
        self.page.open({"verdict": "SLOWER", "device": "Acme GPU 1"})
        self.page.click("#all-rows tbody th a")
        self.assert_no_overflow(self.page, "nights")


class SlowNightPage(BrowserTest):
    """Ten nights with one machine, which is slow in the last one."""

    def test_the_periods_say_what_was_taken_out(self):
        folder = self.out / "slow-night"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", folder, "--nights", "10", "--rows", "60", "--devices", "1", "--slow-machine", "1.5"],
                       check=True)
        page = self.made("slow-night", *sorted(folder.iterdir()))
        page.open()
        self.assertEqual(page.texts(".period summary"), ["Over 7 days: 0 rows slower, 0 faster", "Over 30 days: 0 rows slower, 0 faster"])
        for text in page.texts(".period .note"):
            self.assertRegex(text, r" The machine, taken out of the times: 2026-01-10: 1\.50x slower \(\d\d unchanged rows\)\.$")
        self.assert_no_complaints(page)


class SlowMachinePage(BrowserTest):
    """Two nights; in the second one the machine is slow, and some programs are slower than that."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.out / "slow-machine"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", folder, "--nights", "3", "--rows", "300", "--devices", "1", "--slow-machine", "2"],
                       check=True)
        cls.page = cls.made(cls, "slow-machine", *sorted(folder.iterdir()))

    def test_it_is_said_first_and_taken_out_of_the_other_rows(self):
        self.page.open()
        self.assertRegex(self.page.text("#summary"), r"Acme GPU 1: the machine was 2\.00x slower: 19\d unchanged rows \(")
        self.assertRegex(self.page.text("#summary"), "^1 row fails, 3 became slower: 300 rows on 1 device\\. ")
        self.assertIn("3 SLOWER", self.page.texts(".card .tile"))
        self.page.open({"verdict": "SLOWER"})
        self.assert_soon_equal(self.page.matching, 3)
        for text in self.page.texts("#all-rows tbody td"):
            if "shift" in text:
                self.assertRegex(text, r"^2\.[34]\d*×; 1\.(19\d?|2|2[01]\d?)× without the machine's shift$")
        self.assertEqual(sum("without the machine's shift" in text for text in self.page.texts("#all-rows tbody td")), 3)
        self.assert_no_complaints(self.page)


class UnfinishedPage(BrowserTest):
    """Runs that lost their device, lack rows of the run before, or have times that cannot be trusted."""

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def test_a_lost_device_is_in_the_first_sentence(self):
        folder = self.out / "lost-device"
        journal, = synthetic(folder, "--nights", "1", "--devices", "1", "--rows", "24")

        def lose(event):  # three rows pass, the fourth loses the device, and the run ends
            row = event.get("row", 0)
            if event["event"] == "done" or row > 3 or (row == 3 and event["event"] in ("judged", "block")):
                return None
            if row == 3 and event["event"] == "end":
                return {"event": "end", "row": 3, "status": "DEVICE_LOST", "reason": "the device was lost", "total_ms": 5}
            if row == 0 and event["event"] == "judged":  # without what says that it is wrong
                return {key: event[key] for key in ("event", "row", "output", "class", "elements", "input_hash", "output_hash")}
            return dict(event, status="PASS", reason="") if event["event"] == "end" else event

        edit(journal, lose)
        self.page = self.made("lost-device", *sorted(folder.iterdir()))
        self.page.open()
        self.assertEqual(self.page.text("#summary"),
                         "No row fails, 21 rows lost or not reached: 24 rows on 1 device. Acme GPU 1: the run did not finish.")
        self.assertEqual(self.page.text("#failures h3"), "Failures: 0, lost or not reached: 21")
        lines = self.page.script("return [...document.querySelectorAll('#accuracy .table tbody tr')].map("
                                 "line => [...line.children].map(cell => cell.textContent))")
        self.assertEqual({line[3] for line in lines}, {"MISSING"})
        self.assertEqual(sum(int(line[4]) for line in lines), 20)

    def test_none_is_said_to_be_slower_only_where_times_were_judged(self):
        folder = self.out / "few-rows"
        _, newest = synthetic(folder, "--nights", "2", "--devices", "1", "--rows", "24")

        def shorten(event):  # the rows of mode accu at the begin of the plan are left
            if event["event"] == "plan":
                return dict(event, rows=event["rows"][:3])
            return None if event.get("row", 0) > 2 else event

        edit(newest, shorten)
        self.page = self.made("few-rows", *sorted(folder.iterdir()))
        self.page.open()
        self.assertEqual(self.page.text("#summary"), "1 row fails, 21 rows are GONE: 24 rows on 1 device.")

    def test_times_that_cannot_be_trusted_are_counted(self):
        folder = self.out / "suspect"
        _, newest = synthetic(folder, "--nights", "2", "--devices", "1", "--rows", "24")
        edit(newest, ended("SUSPECT", 3))
        self.page = self.made("suspect", *sorted(folder.iterdir()))
        self.page.open({"op": "dequantize_rows", "measure": "base"})
        self.assertRegex(self.page.text("#summary"), "^2 rows fail, (none|1) became slower, 1 row is SUSPECT: 24 rows on 1 device")
        self.assertEqual(self.page.script("return document.querySelector('#heat-map td.heat a').title"), "2 rows", "of three")

    def test_kernels_are_called_unchanged_only_if_the_binary_is(self):
        folder = self.out / "rebuilt"
        journals = synthetic(folder, "--nights", "2", "--devices", "1", "--rows", "24")
        note = "Driver, kernels, ceilings and machine are unchanged."
        for number, (hashes, is_said) in enumerate(((("b1", "b1"), True), (("b1", "b2"), False), (("", ""), False))):
            for journal, binary in zip(journals, hashes):
                edit(journal, lambda event: dict(event, version="0.1.0", inputs={"binary": binary}, device=dict(event["device"], driver_info="1.3"),
                                                 ceilings=dict(event["ceilings"], driver="Acme 1.3")) if event["event"] == "run" else event)
            self.page = self.made(f"rebuilt-{number}", *sorted(folder.iterdir()))
            self.page.open()
            self.assertEqual(note in self.page.text(".card"), is_said, hashes)
            self.assertEqual("binary (hash)" in self.page.texts(".card .changes th"), hashes == ("b1", "b2"))

    def test_a_night_that_crashed_has_no_error(self):
        folder = self.out / "crashed"
        journals = synthetic(folder, "--nights", "3", "--devices", "1", "--rows", "24")
        edit(journals[1], ended("CRASH", 1))
        self.page = self.made("crashed", *sorted(folder.iterdir()))
        self.page.open({"row": "Acme GPU 1:accu:quantize_rows/case0/64x1024/4W4C.4W4C/tiled"})
        self.assert_soon_equal(lambda: self.page.count(".history"), 1)
        self.assertEqual(self.page.count(".history circle.night"), 2, "an error of 0 would be a third one")
        self.assertEqual(self.page.texts(".history text.failing"), ["×"])

    def test_rows_that_lost_their_time_are_listed_between_nights(self):
        folder = self.out / "lost-times"
        journals = synthetic(folder, "--nights", "3", "--devices", "1", "--rows", "60")
        edit(journals[2], ended("FAIL", *range(12, 18), *range(21, 25)))
        self.page = self.made("lost-times", *sorted(folder.iterdir()))
        self.page.open()
        self.assertEqual(self.page.text("#nights .lost-times summary"),
                         "10 rows have a time in only one of the two nights: 10 FAIL in the later one")
        self.assertEqual(self.page.count("#nights .lost-times tbody th a"), 10)
        titles = self.page.script("return [...document.querySelectorAll('#nights .heat-map tbody tr:first-child td')].map(cell => cell.title)")
        self.assertEqual(titles, ["39 rows", "39 rows", "29 rows"])
        self.page.click("#nights .lost-times tbody th a")
        self.assert_soon(lambda: self.page.text("#row-part .status"), lambda text: text == "FAIL")
        self.assert_no_overflow(self.page, "lost-times")


class UnequalDevicesPage(BrowserTest):
    """Two devices whose rows did not all run under the same conditions."""

    def made_with(self, name, change):
        folder = self.out / name
        _, second = synthetic(folder, "--nights", "1", "--rows", "60")
        edit(second, change)
        self.page = self.made(name, *sorted(folder.iterdir()))
        self.page.open()

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def test_rows_with_other_tunables_are_not_compared(self):
        def tune(event):
            if event["event"] != "plan":
                return event
            return dict(event, rows=[dict(row, tuned="local_size=64 (line 3)") if row["op"] == "linear_int8" else row for row in event["rows"]])

        self.made_with("unequal-tunables", tune)
        self.page.go(measure="ratio:Acme GPU 1")
        names = self.page.texts("#heat-map tbody th")
        self.assertNotIn("linear_int8", names)
        self.assertIn("add", names)
        self.assertRegex(self.page.text("#heat-map > .note"), r" \d+ timed rows\. \d+ rows are not compared with Acme GPU 1: the tunables differ\.$")
        self.page.go(measure="share")
        self.assertIn("linear_int8", self.page.texts("#heat-map tbody th"))

    def test_runs_with_robust_access_and_profiles_are_not_compared(self):
        for name, of_run, why, term in (
                ("robust", lambda run: dict(run, robust_access=True), "(--robust-access)", "robust access"),
                ("validated", lambda run: dict(run, validation=True), "(--validation)", "validation layer"),
                ("as-if", lambda run: dict(run, device=dict(run["device"], as_if="Acme Phone")), "(--as-if)", "limits of")):
            self.made_with(f"unequal-{name}", lambda event: of_run(event) if event["event"] == "run" else event)
            self.assertEqual(self.page.texts("#heat-map select option"), ["share of the device's ceiling"], name)
            self.assertRegex(self.page.text("#heat-map > .note"), r" \d+ rows are not compared with Acme GPU 1: ")
            self.assertIn(why, self.page.text("#heat-map > .note"))
            self.assertEqual([term in self.page.texts(f".card:nth-child({number}) dt") for number in (1, 2)], [False, True])

    def test_steps_of_models_are_apart_by_kind_of_run(self):
        folder = self.out / "kinds-of-steps"
        robust, plain = synthetic(folder, "--nights", "1", "--rows", "24")
        edit(robust, with_layer(10, robust=True))
        edit(plain, with_layer(10))
        self.page = self.made("kinds-of-steps", *sorted(folder.iterdir()))
        self.page.open()
        title = "net, decode, 1 token per step"
        self.assertEqual(self.page.texts("#models caption"), [title, title + ", with robust access (--robust-access)"])
        self.assertEqual(self.page.texts("#models tbody th"), ["Acme GPU 2", "Acme GPU 1"])
        self.assertEqual(self.page.texts("#models tbody td:nth-child(3)"), ["1.00×", "1.00×"], "each is the fastest of its kind")

    def test_impls_are_not_compared_across_kinds_of_runs(self):
        message = "No case that matches the filters was timed with two impls."
        for is_robust in (False, True):
            name = f"kinds-of-impls-{is_robust}"
            folder = self.out / name
            first, second = synthetic(folder, "--nights", "2", "--devices", "1", "--rows", "24")
            edit(first, only_impl(0, robust=False))
            edit(second, only_impl(2, robust=is_robust))
            self.page = self.made(name, *sorted(folder.iterdir()))
            self.page.open()
            self.assertEqual(self.page.matching(), 16, "the runs have no row in common: both are shown")
            self.assertEqual(message in self.page.text("#impls"), is_robust)

    def test_times_that_did_not_pass_are_not_compared(self):
        self.made_with("unequal-suspect", ended("SUSPECT", 4))
        self.page.go(measure="ratio:Acme GPU 1")
        self.assertIn("1 row is not compared with Acme GPU 1: one of the two did not end with PASS.", self.page.text("#heat-map > .note"))


class LargePage(BrowserTest):
    """What is special at the ends of scales: more rows than a picture draws, and a model that takes seconds."""

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def test_the_roofline_says_how_many_rows_it_draws_and_which(self):
        folder = self.out / "many-rows"
        synthetic(folder, "--nights", "1", "--devices", "1", "--rows", "9300")
        self.page = self.made("many-rows", *sorted(folder.iterdir()))
        self.page.open()
        self.assertEqual(self.page.count("#roofline-bandwidth .point"), 6000)
        self.assertEqual(self.page.text("#roofline-bandwidth figcaption").replace("\u202f", ""),
                         "All rows, by the bytes they move; the 6000 with the most to gain of 6198 are drawn")
        self.assertEqual(self.page.text("#roofline-compute figcaption"), "Rows with operations", "there are fewer of them")
        gains = self.page.script("return [...document.querySelectorAll('#roofline-bandwidth .point')].map(mark => mark.__data__.row.us_to_gain)")
        self.assertEqual(gains, sorted(gains, reverse=True))

    def test_a_slow_model_has_a_rate(self):
        folder = self.out / "slow-model"
        journal, = synthetic(folder, "--nights", "1", "--devices", "1", "--rows", "24")
        edit(journal, with_layer(1000000))
        self.page = self.made("slow-model", *sorted(folder.iterdir()))
        self.page.open()
        ms, _, _, rate, *_ = self.page.texts("#models tbody tr:first-child td")
        self.assertRegex(rate, r"^0\.\d{3}$")
        self.assertAlmostEqual(float(rate) * float(ms) / 1000, 1, delta=0.01)


class WeekPage(BrowserTest):
    """A week with a verdict each night; a new build made six rows slower on Thursday."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.out / "week"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["scripts/docs/walks_week.py", PUBLISHED / "nvidia-h200", folder / "nights", cls.assay], check=True)
        for night in ("mon", "tue", "wed", "thu", "fri", "sat", "sun"):
            cls.verdict = subprocess.run([cls.assay, "verdict", folder / "nights" / night, "--last-good", folder / "last-good"],
                                         stdout=subprocess.PIPE, text=True, check=False).stdout
        cls.page = cls.made(cls, "week", folder / "nights", "--night", folder / "nights" / "sun")
        cls.page_without = cls.made(cls, "week_without_verdict", folder / "nights")

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def test_it_opens_with_the_verdict_on_the_night(self):
        self.page.open()
        summary = self.page.text("#summary")
        self.assertEqual(summary, self.verdict.splitlines()[0])
        self.assertIn("7 rows worse", summary)
        self.assertIn("6 SLOWER", self.page.texts(".card .tile"), "compared with Wednesday, the last good night")
        self.page.click(".night summary")
        self.assertIn("q8ta_linear", self.page.text(".night pre"))

    def test_without_a_verdict_it_compares_with_the_night_before(self):
        self.page_without.open()
        self.assertIn("none became slower", self.page_without.text("#summary"))

    def test_what_got_slower_this_week_is_two_clicks_away(self):
        self.page.open()
        self.assertEqual(self.page.text(".period summary"), "Over 7 days: 6 rows slower, 0 faster")
        self.page.click(".period summary")
        lines = self.page.texts(".period tbody tr")
        self.assertEqual(len(lines), 12, "the same six over 7 and 30 days")
        self.assertIn("2026-11-19 01:00 UTCaaaaaaaaaaaa → bbbbbbbbbbbb", lines[0])
        self.page.click(".period tbody a")
        self.assert_soon(lambda: self.page.count("#row-part .history"), lambda figures: figures > 0)

    def test_any_two_nights_can_be_compared(self):
        self.page.open({"op": "q8ta_linear", "impl": "gemv"})
        nights = dict(zip(("mon", "tue", "wed", "thu"), self.page.script(
            "return [...document.querySelectorAll('#nights label:first-child option')].map(one => one.value)")))
        models = sorted({row["model"] for row in rows_of(PUBLISHED / "nvidia-h200", "perf.csv")
                         if row["op"] == "q8ta_linear" and row["impl"] == "gemv" and row["model"]})
        self.assertEqual(self.page.texts("#nights .heat-map tbody th"), ["all rows", *(f"model {name}" for name in models), "q8ta_linear"])
        self.page.choose("#nights label:first-child select", nights["wed"])
        self.assert_soon_equal(lambda: self.page.state().get("from"), nights["wed"])
        self.page.wait()
        self.page.choose("#nights label:last-child select", nights["thu"])
        self.assert_soon_equal(lambda: self.page.texts("#nights .heat-map thead th"), ["op or model", "11-18", "11-19"])
        self.page.wait()
        self.assertRegex(self.page.texts("#nights .heat-map tbody tr")[-1], r"^q8ta_linear1\.000×1\.0[56]\d×$")
        self.assertEqual(len(self.page.texts("#nights .table tbody tr")), 6, "those that are slower since Thursday")
        self.page.go(**{"op": "q8ta_linear", "impl": "gemv", "from": nights["mon"], "until": nights["wed"]})
        self.assertRegex(self.page.texts("#nights .heat-map tbody tr")[-1], r"^q8ta_linear1\.000×(0\.99|1\.00)\d×(0\.99|1\.00)\d×$")

    def test_the_heat_map_of_one_device_opens_with_times_since_its_base(self):
        self.page.open()
        self.assertEqual(self.page.text("#heat-map select option:checked"), "time / that of the base")

    def test_it_fits_both_widths(self):
        self.page.open()
        self.page.click(".night summary")
        self.page.click(".period summary")
        self.assert_no_overflow(self.page, "week")


class HostilePage(BrowserTest):
    def test_no_text_of_a_report_becomes_markup(self):
        folder = self.out / "hostile"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", folder, "--nights", "2", "--devices", "1", "--rows", "30"], check=True)
        quoted = json.dumps(HOSTILE)[1:-1]
        for journal in folder.glob("*/*/journal.jsonl"):
            text = journal.read_text(encoding="utf-8")
            for word in ("Acme GPU 1", "linear_int4", "4W4C.4W4C", "tiled", "nightly", "x=normal", "M=512", "GCC 12", "expected 9", "a00000"):
                text = text.replace(word, quoted)
            journal.write_text(text, encoding="utf-8")
        page = self.made("hostile", *sorted(folder.iterdir()))
        for state in ({}, {"status": "failing"}):
            page.open(state)
            page.click("#all-rows tbody th a")
            self.assert_soon(lambda: page.text("main"), lambda text: "<script>window.hacked" in text)
            self.assertFalse(page.script("return 'hacked' in window"))
            self.assertEqual(page.count("img, iframe, object, embed"), 0)
            self.assertEqual(page.count("body script"), page.count("body script:not([src])"))
        self.assert_no_complaints(page)


class FaultsPage(BrowserTest):
    """The kill matrix of `assay mutate`, as a section and as a page of its own."""

    matrix = PUBLISHED / "faults"

    def rows(self):
        return rows_of(self.matrix, "kill_matrix.csv")

    def test_a_section_shows_the_score_and_what_survived(self):
        page = self.made("faults", PUBLISHED / "lavapipe", "--faults", self.matrix)
        page.open()
        ends = collections.Counter(row["status"] for row in self.rows())
        score = f"({ends['killed']} of {ends['killed'] + ends['survived']}) seeded faults."
        self.assertIn(score, page.text("#faults-part"))
        self.assertIn("Tried on llvmpipe", page.text("#faults-part"))
        page.click(".of-faults a")
        self.assert_soon_equal(lambda: page.script("return document.activeElement.id"), "faults-heading")
        survivors = [row for row in self.rows() if row["status"] == "survived"]
        page.script("for (const button of document.querySelectorAll('.fault-list .buttons button:not(.save)')) "
                    "if (!button.hidden) button.click()")
        lines = page.script("return [...document.querySelector('.fault-list').querySelectorAll('tbody tr')].map("
                            "line => [...line.children].map(cell => cell.textContent))")
        self.assertCountEqual([(line[0], line[1], line[3].replace("\u202f", "")) for line in lines],
                              [(f"{row['file']}:{row['line']}:{row['column']}", row["operator"], row["rows_ran"]) for row in survivors])
        tables = page.script("return [...document.querySelectorAll('.fault-list')].slice(-2).map(table =>"
                             "[...table.querySelectorAll('tbody tr')].map(line => [...line.children].map(cell => cell.textContent)))")
        for column, lines in zip(("file", "operator"), tables, strict=True):
            survived = collections.Counter(row[column] for row in self.rows() if row["status"] == "survived")
            self.assertEqual({line[0]: int(line[4]) for line in lines},
                             {name: survived[name] for name in {row[column] for row in self.rows()}})
        self.assert_no_complaints(page)

    def test_the_matrix_is_saved_as_it_is(self):
        page = self.made("faults-alone", "--faults", self.matrix)
        page.open()
        self.assertIn("seeded faults", page.text("#summary"))
        self.assertEqual(page.count("main > *"), 1, "there are no reports")
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(self.out.resolve())})
        saved = self.out / "kill_matrix.csv"
        saved.unlink(missing_ok=True)
        page.script("document.querySelector('#faults-part > .buttons .save').click()")
        self.assert_soon_equal(saved.read_bytes, (self.matrix / "kill_matrix.csv").read_bytes())
        self.assert_no_overflow(page, "faults")
        self.assert_no_complaints(page)

    def test_no_code_becomes_markup(self):
        folder = self.out / "hostile-faults"
        folder.mkdir(exist_ok=True)
        rows = self.rows()[:200]
        words = ("file", "operator", "before", "after", "killed_by", "how", "reason", "fault")
        with open(folder / "kill_matrix.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            for status in ("survived", "killed", "equivalent"):
                for row in rows:
                    kills = int(status == "killed")
                    writer.writerow(dict(row, status=status, kills=kills, rows_left=0, **dict.fromkeys(words, HOSTILE)))
        (folder / "faults.md").write_text(f"# F\n\nScore: 50.0 % (200 of 400), {HOSTILE}\n", encoding="utf-8")
        page = self.made("hostile-faults", "--faults", folder)
        page.open()
        page.script("for (const list of document.querySelectorAll('.fault-list')) list.open = true")
        self.assertIn("Tried <script>", page.text("#faults-part"))
        self.assertGreaterEqual(page.text("#faults-part").count("<script>window.hacked"), 300)
        self.assertEqual(page.texts(".fault-list h3"), ["Survivors: 200", "Fragile: 200", "Equivalent: 200", "By file", "By operator"])
        self.assertFalse(page.script("return 'hacked' in window"))
        self.assertEqual(page.count("img, iframe, object, embed"), 0)
        self.assert_no_overflow(page, "hostile-faults")
        self.assert_no_complaints(page)


def write_picture(assay, out, path):
    """Writes the picture in README.md: the roofline of a published report."""
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run([assay, "page", out / "published.html", PUBLISHED], check=True)
    browser = start_browser()
    try:
        page = Page(browser, out / "published.html")
        page.open({"roof": "H200"}, 1120)
        top, bottom = page.script("""const top = (id) => document.getElementById(id).getBoundingClientRect().top + scrollY;
                                     return [top("roofline-heading") - 12, top("impls-heading") - 24];""")
        page.picture(path, top, bottom - top)
    finally:
        browser.quit()


def load_tests(loader, tests, _pattern):
    tests.addTests(loader.loadTestsFromModule(readable_test))
    return tests


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    BrowserTest.assay, BrowserTest.out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if sys.argv[3:4] == ["--picture"]:
        write_picture(BrowserTest.assay, BrowserTest.out, sys.argv[4])
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)


if __name__ == "__main__":
    main()
