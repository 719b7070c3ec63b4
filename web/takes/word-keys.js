/**
 * Walks through a take's final words by the keyboard, and plays the one that has the focus.
 *
 * All of them are one stop of the tab key; arrows go on from there (a roving tabindex).
 */

const STEPS = Object.freeze({ ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 });

export class WordKeys {
  /** @param {HTMLElement} finals @param {(word: Element) => void} play */
  constructor(finals, play) {
    this.finals = finals;
    this.play = play;
    finals.addEventListener("keydown", (event) => this.#pressed(event));
    finals.addEventListener("focusin", ({ target }) => this.#stand(target));
  }

  /** Let the tab key reach the words: there is sound now. */
  begin() {
    for (const word of this.#words()) makeButton(word, -1);
    this.#words()[0]?.setAttribute("tabindex", "0");
  }

  #words() {
    return [...this.finals.querySelectorAll(".word")];
  }

  #pressed(event) {
    const { key, target } = event;
    if (!target.hasAttribute("tabindex") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (key === "Enter" || key === " ") this.play(target);
    else if (!this.#go(target, key)) return;
    event.preventDefault(); // a space would scroll the page, and so would an arrow
  }

  #go(from, key) {
    const words = this.#words();
    const ends = { Home: 0, End: words.length - 1 };
    const to = ends[key] ?? (key in STEPS ? words.indexOf(from) + STEPS[key] : NaN);
    if (Number.isNaN(to)) return false;
    words[Math.min(Math.max(to, 0), words.length - 1)].focus();
    return true;
  }

  #stand(word) {
    for (const other of this.finals.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    word.tabIndex = 0;
  }
}

function makeButton(word, tabIndex) {
  word.tabIndex = tabIndex;
  word.setAttribute("role", "button");
}
