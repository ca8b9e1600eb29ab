"""The HTML report opens in a real browser: no console error, every plot drawn, tables that sort, nothing from a network.

    report_page_test.py PATH_OF_ATHANOR
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ATHANOR = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]


class Browser:
    """A page in headless Chromium, by the WebDriver protocol."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen([DRIVER, f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait()
        options = {"binary": CHROMIUM, "args": QUIET + [f"--user-data-dir={folder}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = "/session/" + self.ask("/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def wait(self):
        for _ in range(100):
            try:
                if json.load(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status"))["value"]["ready"]:
                    return
            except urllib.error.URLError:
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def ask(self, path, data):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(data).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        self.ask(self.session + "/url", {"url": path.as_uri()})

    def run(self, script):
        return self.ask(self.session + "/execute/sync", {"script": script, "args": []})

    def console(self):
        return self.ask(self.session + "/se/log", {"type": "browser"})

    def close(self):
        self.driver.terminate()
        self.driver.wait()


class Pages(unittest.TestCase):
    """Reports in a folder of their own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def report(self, name, *files):
        page = self.folder / name
        subprocess.run([ATHANOR, "report", *map(str, files), "-o", str(page), "-q"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
        return page


class Page(Pages):
    def test_needs_nothing_but_itself(self):
        text = self.report("quickstart.html", "scenarios/quickstart.json").read_text(encoding="utf-8")
        self.assertLess(len(text), 5_000_000)
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:)[^"]*"', text), [])
        self.assertRegex(text, r'<p class="version">athanor [0-9.]+ \([-0-9a-z]+\)</p>')
        for part in ("one DGX H100", "two DGX A100 over 8 x HDR", "Manifest", "hash", "Comparison"):
            self.assertIn(part, text)
        for picture in ("Time and bus bandwidth over size", "How busy each link was", "Who sends what to whom"):
            self.assertEqual(len(re.findall(f'alt="{picture}', text)), 2, picture)  # of each case

    @unittest.skipUnless(CHROMIUM and DRIVER, "needs chromium and chromedriver")
    def test_in_a_browser(self):
        page = self.report("quickstart.html", "scenarios/quickstart.json")
        browser = Browser(self.folder / "profile")
        self.addCleanup(browser.close)
        browser.open(page)
        self.assertEqual(browser.console(), [])
        plots = browser.run("return [...document.images].map(i => i.complete ? i.naturalWidth : 0)")
        self.assertGreaterEqual(len(plots), 2)
        self.assertTrue(all(width > 100 for width in plots), plots)
        times = """const table = document.querySelector('section section table');
            const column = [...table.querySelectorAll('th')].findIndex(h => h.textContent.startsWith('time'));
            const head = table.querySelectorAll('th')[column];
            head.click(); head.click();
            return [...table.tBodies[0].rows].map(r => Number(r.children[column].dataset.value));"""
        sorted_times = browser.run(times)
        self.assertGreater(len(sorted_times), 20)
        self.assertEqual(sorted_times, sorted(sorted_times, reverse=True))
        self.assertEqual(browser.console(), [])


class Contents(Pages):
    def test_of_a_sweep_and_of_several_files(self):
        scenario = self.folder / "small.json"
        scenario.write_text('{"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},'
                            '"collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1KiB..64KiB"}}')
        sweep = self.folder / "small.sqlite"
        done = subprocess.run([ATHANOR, "sweep", str(scenario), "-q", "-o", str(sweep), "--vary", "/collective/ranks=2,99,4"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)  # 99 ranks do not fit, and the page says so
        text = self.report("sweep.html", sweep).read_text(encoding="utf-8")
        self.assertIn("1 points failed", text)
        self.assertIn("99 ranks, but the cluster has 4 endpoints", text)
        self.assertIn('alt="Sweep: over ranks"', text)
        slower = self.folder / "slower.json"
        slower.write_text(scenario.read_text().replace("10GB/s", "5GB/s"))
        both = self.report("both.html", scenario, slower)
        self.assertIn("geometric mean", both.read_text(encoding="utf-8"))
        costs = self.report("costs.html", scenario, slower, "--pareto", "bill_cables").read_text(encoding="utf-8")
        self.assertIn('alt="What is best for its cost"', costs)

    def test_intervals_stand_in_tables_of_sweeps_and_of_comparisons(self):
        scenario = self.folder / "nccl.json"
        scenario.write_text('{"cluster": {"node": "DGX-H100", "fabric": {"kind": "star", "switch": "QM9700"}},'
                            '"collective": {"kind": "all_reduce", "sizes": ["1MiB", "1GiB"]}}')
        sweep = self.folder / "nccl.sqlite"
        subprocess.run([ATHANOR, "sweep", str(scenario), "-q", "-o", str(sweep), "--vary", "/cluster/nodes=1,2"], check=True,
                       stdout=subprocess.DEVNULL)
        text = self.report("nccl.html", sweep, "--by", "nodes").read_text(encoding="utf-8")
        for head in ("one in ten below (µs)", "one in ten above (µs)"):
            self.assertIn(f"<th>{head}</th>", text)
        self.assertIn("known nothing", text)
        self.assertRegex(text, r"<td>1 9[0-9] %</td>")  # of 1 MiB, where messages of two nodes take longer
        self.assertRegex(text, r"<td>open \([12] [5-7][0-9] %\)</td>")  # of 1 GiB
        self.assertIn("in brackets: eight of ten measurements (80 %)", text)
        rows = json.loads(subprocess.run([ATHANOR, "export", "sweep", str(sweep), "--format", "json"],
                                        capture_output=True, check=True).stdout)["results"]
        for row in rows:
            self.assertIn(f'>{row["time_us"]:,.6g} ({row["time_low_us"]:,.4g} to {row["time_high_us"]:,.4g})</td>', text)

    def test_of_every_kind_of_experiment_it_shows_the_figures(self):
        star = '"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}}'
        kinds = {
            "traffic": ('"traffic": {"pattern": "incast", "senders": 3, "sizes": "64KiB"}', "goodput (GB/s)", "p99 (µs)"),
            "servers": ('"parameter_server": {"parameters": "1MiB", "servers": 1, "workers": 3, "compute": {"mean": "1ms"}}',
                        "updates (1/s)", "staleness (mean)"),
            "jobs": ('"collective": {"kind": "all_reduce", "jobs": 2, "ranks": 2, "sizes": "64KiB"}', "size", "time (µs)"),
            "trace": (f'"trace": {{"files": "{ROOT}/scenarios/traces/ring.goal"}}', "step (ms)", "exposed (ms)"),
        }
        for name, (text, *heads) in kinds.items():
            scenario = self.folder / f"{name}.json"
            scenario.write_text("{" + star + ", " + text + "}")
            page = self.report(f"{name}.html", scenario).read_text(encoding="utf-8")
            for head in heads:
                self.assertIn(f"<th>{head}</th>", page, name)

    def test_of_steps_of_training_it_draws_what_their_time_goes_to_and_when(self):
        text = self.report("steps.html", "scenarios/training/timelines.json", "--case", "1F1B", "--case", "GPipe")
        for picture, times in (("Where the time of each step goes", 1), ("What each worker did when", 2)):
            self.assertEqual(len(re.findall(f'alt="{picture}"', text.read_text(encoding="utf-8"))), times, picture)

    def test_of_workloads_it_draws_each_case_and_all_of_them_side_by_side(self):
        text = self.report("jobs.html", "scenarios/jobs/backfill.json").read_text(encoding="utf-8")
        self.assertEqual(len(re.findall('alt="What became of the jobs: ', text)), 3)
        self.assertEqual(len(re.findall('alt="Workloads side by side"', text)), 1)
        self.assertLess(len(text), 1_000_000)


unittest.main(verbosity=2)
