"""Tests of whether a page can be read: in a narrow window, its ticks, colours, labels and hashes, and what it opens with."""
import collections
import csv
import json
import math
import shutil
import statistics
import subprocess

from browser import BrowserTest, HERE, PUBLISHED
from selenium.webdriver.common.by import By

KERNELS = ("0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdee")  # they differ in the last digit

# The texts with digits that do not lie inside of the window and of all that clips them. What may be scrolled counts as
# visible if `scrolls` names it.
CLIPPED = """
const scrolls = arguments[0];
const hides = (node) => getComputedStyle(node).overflowX !== "visible";
const found = [];
const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
for (let text = walker.nextNode(); text; text = walker.nextNode()) {
  if (!/[0-9]/.test(text.data) || text.parentElement.closest(".hidden, select, thead, script")) continue;
  const range = document.createRange();
  range.selectNodeContents(text);
  const box = range.getBoundingClientRect();
  if (box.width === 0 || scrolls.includes(text.parentElement.closest(".scroll")?.getAttribute("aria-label"))) continue;
  for (let node = text.parentElement; node; node = node.parentElement) {
    const frame = node === document.documentElement ? {left: 0, right: innerWidth} : node.getBoundingClientRect();
    const clips = node === document.documentElement || node.tagName === "svg" || hides(node);
    if (clips && (box.left < frame.left - 1 || box.right > frame.right + 1)) {
      found.push(text.data);
      break;
    }
  }
}
return found;"""

# Pairs of texts of one picture that overlap, but for those that are turned.
OVERLAPPING = """
const found = [];
for (const picture of document.querySelectorAll("main svg")) {
  const texts = [...picture.querySelectorAll("text")].filter(text => !/rotate/.test(text.getAttribute("transform") || ""))
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([text, box]) => text !== "" && box.width > 0);
  texts.forEach(([text, a], place) => texts.slice(place + 1).forEach(([other, b]) => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) found.push([text, other]);
  }));
}
return found;"""

SMALLEST = """
return Math.min(...[...document.querySelectorAll("main svg text")].filter(text => text.textContent !== "").map(text => {
  const picture = text.ownerSVGElement;
  const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  return parseFloat(getComputedStyle(text).fontSize) * scale;
}));"""

WRAPPED = """
const lines = (node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
};
return [...document.querySelectorAll(".heat-map td")].filter(cell => lines(cell.querySelector("a") || cell) > 1).map(cell => cell.textContent);"""

AXES = """
return [...document.querySelectorAll("main .axis")].map(axis => [...axis.querySelectorAll(".tick text")].map(text => text.textContent));"""

COLOURS = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
return [...document.querySelectorAll(arguments[0])].map(node => {
  canvas.fillStyle = getComputedStyle(node).backgroundColor;
  canvas.fillRect(0, 0, 1, 1);
  return [node.textContent, [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)];
});"""


def distance(one, other):
    return max(abs(a - b) for a, b in zip(one, other))


def rows_of_perf(device):
    with open(PUBLISHED / device / "perf.csv", encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["gbps"]]


class ReadablePage(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = cls.made(cls, "readable", PUBLISHED)

    def tearDown(self):
        self.assert_no_complaints(self.page)

    def test_the_search_filters_while_somebody_types(self):
        self.page.open()
        ids = self.page.matching()
        box = self.browser.find_element(By.ID, "search")
        for letters in ("pixel_", "shuffle/"):  # without Enter
            box.send_keys(letters)
        matching = self.assert_soon(self.page.matching, lambda number: number < ids, seconds=10)
        self.assertGreater(matching, 0)
        self.page.wait()
        self.assert_soon(lambda: self.page.texts("#all-rows tbody th"),
                         lambda shown: shown and all("pixel_shuffle/" in text for text in shown))
        self.assertEqual(self.page.script("return document.activeElement.id"), "search")
        self.assertEqual(self.page.script("return document.activeElement.value"), "pixel_shuffle/")

    def test_the_heat_map_opens_with_times(self):
        self.page.open()
        self.assertEqual(self.page.text("#heat-map select option:checked"), "time / that on H200")
        h100, h200 = ({(row["case"], row["cache"]): row for row in rows_of_perf(device)} for device in ("nvidia-h100", "nvidia-h200"))
        ratios = collections.defaultdict(list)
        for key, row in h100.items():
            if key in h200:
                ratios[row["op"]].append(math.log(float(row["time_us_p50"]) / float(h200[key]["time_us_p50"])))
        expected = {op: math.exp(statistics.fmean(logs)) for op, logs in ratios.items()}
        shown = {op: self.page.script("""const row = [...document.querySelectorAll("#heat-map tbody tr")].find(one => one.firstChild.textContent === arguments[0]);
                                         return row.children[2].textContent;""", op) for op in expected}
        for op, ratio in expected.items():
            self.assertAlmostEqual(float(shown[op].rstrip("×")), ratio, delta=0.006, msg=op)

    def colour_near(self, ratio, colours):
        """The colour of the published ratio that is nearest to this one."""
        text = min(colours, key=lambda text: abs(float(text.rstrip("×")) - ratio))
        self.assertAlmostEqual(float(text.rstrip("×")), ratio, delta=0.05)
        return colours[text]

    def test_a_fifth_slower_and_faster_have_colours_of_their_own(self):
        for scheme in ("light", "dark"):
            self.page.open({}, 1400, scheme)
            colours = dict(self.page.script(COLOURS, "#heat-map td.heat"))
            slower = self.colour_near(1.2, colours)
            self.assertGreater(distance(slower, colours["1.00×"]), 25, scheme)
            self.page.go(measure="ratio:H100 80GB HBM3")
            inverse = dict(self.page.script(COLOURS, "#heat-map td.heat"))
            faster = self.colour_near(1 / 1.2, inverse)
            self.assertGreater(distance(faster, inverse["1.00×"]), 25, scheme)
            self.assertGreater(distance(faster, slower), 25, scheme)
            red, _, blue = faster
            self.assertGreater(blue, red, "faster is blue")
            legend = self.page.texts("#heat-map .legend li")
            self.assertEqual(legend, ["0.20× and less", "0.67×", "1×", "1.50×", "5.00× and more"])

    def test_swatches_of_legends_are_squares(self):
        self.page.open()
        sizes = self.page.script("""return [...document.querySelectorAll(".swatch")].map(one => one.getBoundingClientRect())
                                    .map(box => [box.width, box.height])""")
        self.assertGreater(len(sizes), 5)
        self.assertEqual([size for size in sizes if size != [16, 16]], [])

    def test_all_rows_open_with_those_that_have_times(self):
        self.page.open({"device": "H200"})
        heads = self.page.texts("#all-rows thead th")
        times = self.page.texts(f"#all-rows tbody td:nth-child({heads.index('µs') + 1})")
        self.assertEqual(len(times), 100)
        self.assertNotIn("", times)
        gains = [float(text.replace("\u202f", "")) for text in self.page.texts(f"#all-rows tbody td:nth-child({heads.index('µs to gain') + 1})")]
        self.assertEqual(gains, sorted(gains, reverse=True))

    def test_ticks_of_a_narrow_range_differ(self):
        for q in ("choose_qparams_affine/decode/per_group_32/WP", "dequantize_affine"):
            self.page.open({"q": q, "impls-on": "llvmpipe"})
            axes = self.page.script(AXES)
            self.assertGreaterEqual(len(axes), 3)
            for labels in axes:
                self.assertGreaterEqual(len(labels), 2, axes)
                self.assertEqual(len(labels), len(set(labels)), labels)


class NarrowPages(BrowserTest):
    """Pages in a window of 400 pixels, with everything open that can be opened."""

    def opened(self, name, reports, state=None):
        page = self.made(name, *reports)
        page.open(state, 400)
        self.page_is_readable(page, name)
        return page

    def page_is_readable(self, page, name):
        self.assertLessEqual(page.script("return document.documentElement.scrollWidth"), 400, name)
        self.assertEqual(page.script(CLIPPED, ["Ops and nights"]), [], name)
        self.assertEqual(page.script(OVERLAPPING), [], name)
        self.assertEqual(page.script(WRAPPED), [], name)
        self.assertGreaterEqual(page.script(SMALLEST), 11, name)
        self.assert_no_complaints(page)

    def test_figures_of_the_published_reports(self):
        page = self.opened("narrow", [PUBLISHED])
        page.script("for (const part of document.querySelectorAll('#models details')) part.open = true")
        for device in ("llvmpipe", "H100 80GB HBM3", "H200"):
            page.go(roof=device, **{"impls-on": device})
            self.page_is_readable(page, device)

    def test_two_rooflines_in_one_picture(self):
        page = self.made("narrow", PUBLISHED)
        for scheme in ("light", "dark"):
            page.open({"roof": "H100 80GB HBM3", "beside": "H200"}, 400, scheme)
            self.page_is_readable(page, scheme)
            first, second = (page.script("return getComputedStyle(document.querySelector(arguments[0])).fill",
                                         f"#roofline .point.kind-{place}") for place in (0, 1))
            self.assertNotEqual(first, second)
            for name in ("H100 80GB HBM3", "llvmpipe"):
                page.go(beside=name, roof="H200")
                self.page_is_readable(page, name)

    def test_figures_of_a_row_and_its_nights(self):
        folder = self.out / "narrow-nights"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", folder, "--nights", "12", "--rows", "60", "--journals", "3"], check=True)
        page = self.opened("narrow-nights", sorted(folder.iterdir()),
                           {"row": "Acme GPU 1:perf:linear_int8/case2/256x1024/4W4C.4W4C/tiled"})
        page.script("for (const part of document.querySelectorAll('details')) part.open = true")
        self.page_is_readable(page, "with everything open")
        for width in (400, 1400):
            page.open(page.state(), width)
            left = page.script("""const box = document.querySelector("#nights .scroll");
                                  box.scrollLeft = box.scrollWidth;
                                  return box.querySelector("tbody th").getBoundingClientRect().left;""")
            self.assertGreaterEqual(left, 0, "the names of ops stay in view while nights are scrolled")


class NightsOfOneDayPage(BrowserTest):
    def page_of(self, name, hours):
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", folder, "--nights", "4", "--rows", "30", "--devices", "1", "--hours", hours], check=True)
        page = self.made(name, *sorted(folder.iterdir()))
        page.open({"row": "Acme GPU 1:perf:linear_int8/case2/256x1024/4W4C.4W4C/tiled"})
        return page

    def labels_of(self, page):
        """The labels of the nights in the history of a row, in the choice of nights, and in the heads of their table."""
        return [page.script("""return [...document.querySelectorAll(".history .axis")].find(axis => !axis.getAttribute("transform").endsWith(",0)"))
                .textContent.match(/\\d\\d-\\d\\d(\\s[\\d:]+)?/g)"""),
                page.texts("#nights label:first-child option"), page.texts("#nights .heat-map thead th")[1:]]

    def test_two_runs_of_a_day_differ(self):
        for name, hours in (("half-days", "12"), ("seconds", "0.005")):
            page = self.page_of(name, hours)
            for labels in self.labels_of(page):
                self.assertGreaterEqual(len(labels), 2, labels)
                self.assertEqual(len(labels), len(set(labels)), labels)
            run, base = page.texts(".card dd")[0], page.texts(".card dd")[4]
            self.assertIn("the run of", base)
            self.assertNotIn(run, base)
            self.assert_no_complaints(page)

    def test_runs_of_several_days_have_no_time_in_their_labels(self):
        page = self.page_of("days", "24")
        self.assertEqual(self.labels_of(page)[2], ["01-01", "01-02", "01-03", "01-04"])


class HashesPage(BrowserTest):
    def test_a_hash_is_whole_or_says_that_it_is_not(self):
        folder = self.out / "hashes"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([HERE / "synthetic.py", folder, "--nights", "2", "--rows", "30", "--devices", "1"], check=True)
        for journal, kernels in zip(sorted(folder.glob("*/*/journal.jsonl")), KERNELS):
            lines = journal.read_text(encoding="utf-8").splitlines()
            run = json.loads(lines[0])
            run["ceilings"]["kernels"] = kernels
            journal.write_text("\n".join([json.dumps(run), *lines[1:]]) + "\n", encoding="utf-8")
        page = self.made("hashes", *sorted(folder.iterdir()))
        for width in (1400, 400):
            page.open({"row": "Acme GPU 1:perf:linear_int8/case2/256x1024/4W4C.4W4C/tiled"}, width)
            self.assertEqual(page.texts(".card .hash"), list(KERNELS), "they differ in the last digit alone")
            self.assertIn("ab" * 16, page.texts(".facts td"))
            self.assertEqual(page.script(CLIPPED, ["Ops and nights", "Rows that match the filters"]), [], width)
        journal = sorted(folder.glob("*/*/journal.jsonl"))[0]
        journal.write_text(journal.read_text(encoding="utf-8").replace(KERNELS[0], "f" * 32), encoding="utf-8")
        page = self.made("hashes", *sorted(folder.iterdir()))
        page.open()
        self.assertEqual(page.texts(".card .hash"), ["f" * 12 + "…", KERNELS[1][:12] + "…"])
        titles = page.script("return [...document.querySelectorAll('.card .hash')].map(one => one.title)")
        self.assertEqual(titles, ["f" * 32, KERNELS[1]])
