"""A page of `assay page` in a browser, for the tests beside this file."""
import base64
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
PUBLISHED = pathlib.Path("reports/published")
INSTALL = "install it with: scripts/setup.sh --dev (Debian's chromium, chromium-driver and python3-selenium)"
WIDTHS = (1400, 400)

try:
    from selenium import webdriver
    from selenium.common.exceptions import JavascriptException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError as error:
    sys.exit(f"the browser test needs selenium: {error}; {INSTALL}")


def program(*names):
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    sys.exit(f"the browser test needs {names[0]}, which is not installed; {INSTALL}")


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium")
    arguments = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--disable-dev-shm-usage"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # as root, Chromium does not start with its sandbox
    for argument in arguments:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(program("chromedriver")), options=options)


class Page:
    """A page in the browser."""

    def __init__(self, browser, path):
        self.browser = browser
        self.url = "file://" + urllib.parse.quote(str(pathlib.Path(path).resolve()))

    def open(self, state=None, width=1280, scheme="light"):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.resize(width)
        self.browser.get("about:blank")  # otherwise a URL with another fragment would not reload the page
        self.browser.get(self.url + ("#" + urllib.parse.urlencode(state) if state else ""))
        self.wait()

    def resize(self, width):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})

    def wait(self):
        """Waits until the page has drawn the state in the URL."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            drawn = self.script("return document.documentElement.dataset.state === location.hash")
            if drawn:
                return
            time.sleep(0.02)
        raise AssertionError(f"the page was not drawn: {self.browser.get_log('browser')}")

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def go(self, **state):
        self.script("location.hash = arguments[0]", urllib.parse.urlencode(state))
        self.wait()

    def count(self, selector):
        return self.script("return document.querySelectorAll(arguments[0]).length", selector)

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])].map(node => node.textContent)", selector)

    def click(self, selector):
        self.browser.find_element(By.CSS_SELECTOR, selector).click()
        self.wait()

    def state(self):
        return dict(urllib.parse.parse_qsl(self.script("return location.hash.slice(1)")))

    def matching(self):
        return int(self.text("#matching").split(" of ")[0].replace("\u202f", ""))

    def choose(self, selector, value):
        self.script("""const select = document.querySelector(arguments[0]);
                       select.value = arguments[1];
                       select.dispatchEvent(new Event("change"));""", selector, value)

    def complaints(self):
        return self.browser.get_log("browser")

    def picture(self, path, top=0, height=None):
        size = self.script("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": top, "width": size[0], "height": min(height or size[1] - top, 8000), "scale": 1}
        shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))


class BrowserTest(unittest.TestCase):
    assay = None  # the binary
    out = None    # a folder for pages and screenshots

    @classmethod
    def setUpClass(cls):
        cls.out.mkdir(parents=True, exist_ok=True)
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)

    def made(self, name, *reports):
        path = self.out / f"{name}.html"
        subprocess.run([self.assay, "page", path, *reports], check=True)
        return Page(self.browser, path)

    def assert_soon(self, read, is_right, message=None, seconds=60):
        """Asserts that what a page shows becomes right: a browser does what a click starts in its own time. Returns
        what was read then."""
        until = time.monotonic() + seconds
        while True:
            try:
                value = read()
            except (JavascriptException, OSError) as error:  # an element, or a file, that is not there yet
                value = error
            if not isinstance(value, Exception) and is_right(value):
                return value
            if time.monotonic() > until:
                self.fail(f"{message or 'what the page shows'}: {value!r} after {seconds} s")
            time.sleep(0.02)

    def assert_soon_equal(self, read, expected, message=None):
        return self.assert_soon(read, lambda value: value == expected, f"{message or 'the page'}, expected {expected!r}")

    def assert_no_complaints(self, page):
        self.assertEqual(page.complaints(), [], "the browser's console should be empty")

    def assert_no_overflow(self, page, name):
        """Asserts that nothing is wider than the window; saves screenshots."""
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                page.open(page.state(), width, scheme)
                self.assertLessEqual(page.script("return document.documentElement.scrollWidth"), width, f"{name} at {width}")
                page.picture(self.out / f"{name}-{width}-{scheme}.png")
