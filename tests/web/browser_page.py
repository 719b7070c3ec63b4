"""Chromium with a wav for its microphone, and the page as a person uses it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

WAIT_S = 40
INSECURE_HOST = "earshot.test"
"""Plain http on any name but localhost is what browsers call an insecure context."""

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--autoplay-policy=no-user-gesture-required",
    "--window-size=1280,800",
    "--use-fake-device-for-media-stream",
    f"--host-resolver-rules=MAP {INSECURE_HOST} 127.0.0.1",
)


def start_chromium(
    chromium: str, driver: str, user_data: Path, microphone: Path
) -> webdriver.Chrome:
    """Start a headless browser whose microphone plays the wav once."""
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    own = (
        f"--use-file-for-fake-audio-capture={microphone}%noloop",
        f"--user-data-dir={user_data}",
    )
    for flag in (*FLAGS, *own):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(driver))


def allow_microphone(browser: webdriver.Chrome, setting: str) -> None:
    """Answer what the browser would ask: "granted" or "denied"."""
    answer = {"permission": {"name": "microphone"}, "setting": setting}
    browser.execute_cdp_cmd("Browser.setPermission", answer)


class Page:
    """What a person does and sees."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser = browser
        browser.get(url)
        self.until(lambda: self.all(".sample"))
        if self.all(".take"):  # of the test before, on the same server
            self.click("#forget")

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.browser, WAIT_S, poll_frequency=0.05).until(lambda _: condition())

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page."""
        return self.browser.execute_script(script, *arguments)

    def press(self, key: str) -> None:
        ActionChains(self.browser).send_keys(key).perform()

    def choose_file(self, path: Path) -> None:
        self.browser.find_element(By.ID, "file").send_keys(str(path))

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Text of all matches, layout or not."""
        script = (
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join('|')"
        )
        return str(self.browser.execute_script(script, selector))

    def click(self, selector: str) -> None:
        self.browser.find_element(By.CSS_SELECTOR, selector).click()

    def boost(self, typed: str) -> None:
        self.browser.find_element(By.ID, "boost-input").send_keys(typed, Keys.ENTER)

    def play(self, title: str) -> None:
        next(button for button in self.all(".sample") if title in button.text).click()

    def start(self) -> None:
        self.click("#listen")
        self.until_state("open")

    def stop(self) -> None:
        self.click("#listen")
        self.until_state("closed")

    def until_state(self, state: str) -> None:
        self.until(lambda: self.all(f"#listen[data-state={state}]"))

    def finals(self) -> list[str]:
        """Paragraphs of settled words, as a screen reader hears them."""
        script = (
            "return [...document.querySelectorAll('.finals p')]"
            ".map(p => [...p.querySelectorAll('.word')].map(w => w.textContent).join(' '))"
        )
        return list(self.run(script))

    def problem(self) -> str:
        self.until(lambda: self.all(".problem"))
        return str(self.all(".problem")[0].get_attribute("data-problem"))

    def complaints(self) -> list[str]:
        """Errors on the console: exceptions, and what the security policy refused.

        That a server cannot be reached, Chromium says there too, of worklets as "worker".
        """
        entries = self.browser.get_log("browser")
        return [e["message"] for e in entries if e["level"] == "SEVERE" and not _unreachable(e)]


def _unreachable(entry: dict[str, str]) -> bool:
    of_worklet = entry["source"] == "worker" and "(Network error)" in entry["message"]
    return entry["source"] == "network" or of_worklet
