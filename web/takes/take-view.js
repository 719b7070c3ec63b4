/**
 * One take on the page: a heading, paragraphs of words, and what can be done with them.
 *
 * Finals are announced to screen readers (a polite log that only grows); the partial stands outside
 * of it, so that nobody has to listen to a sentence being guessed.
 */

import { FORMATS } from "./captions.js";
import { element } from "../controls/elements.js";
import { EventsView } from "./events-view.js";
import { UNSURE_BELOW } from "./transcript.js";
import { WordKeys } from "./word-keys.js";

/** @typedef {import("./transcript.js").Word} Word */

export class TakeView {
  /**
   * @param {string} name @param {import("./transcript.js").Transcript} transcript
   * @param {object} [how]
   * @param {(word: Word|null) => void} [how.onPoint] a word is pointed at, or none is any more
   * @param {number} [how.at] when it began, in milliseconds since 1970
   */
  constructor(name, transcript, { onPoint = () => {}, at = Date.now() } = {}) {
    this.name = name;
    this.transcript = transcript;
    this.at = at;
    /** Whether nothing more will come. */
    this.settled = false;
    /** @type {string[]} */
    this.remarks = [];
    /** @type {(word: Word) => void} a word was clicked */
    this.onPlay = () => {};
    this.finals = element("div", {
      class: "finals",
      role: "log",
      "aria-label": `${name}: transcript`,
    });
    this.partial = element("p", { class: "partial", "aria-hidden": "true" });
    this.notes = element("div", { class: "notes" });
    this.aside = element("div", { class: "beside", role: "status" });
    /** What there is to do with the text, once there is one. */
    this.ofText = this.#buttons();
    this.actions = element("div", { class: "take-actions" }, ...this.ofText);
    const time = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    this.element = element(
      "section",
      { class: "take", "aria-label": name },
      element(
        "header",
        {},
        element("h2", {}, name, element("span", { class: "take-time" }, time)),
        this.actions,
      ),
      this.finals,
      this.partial,
      this.notes,
      this.aside,
    );
    /** @type {{p: HTMLElement, shown: number}[]} */
    this.paragraphs = [];
    /** @type {WeakMap<Element, Word>} */
    this.wordOf = new WeakMap();
    this.element.addEventListener("pointerover", ({ target }) => {
      // The label of a word on the right grows to the left, so that it stays on the page.
      target.classList.toggle("on-right", target.offsetLeft > this.element.clientWidth / 2);
      onPoint(this.wordOf.get(target) ?? null);
    });
    const play = (/** @type {Element} */ target) => {
      const word = this.wordOf.get(target);
      if (word) this.onPlay(word);
    };
    this.finals.addEventListener("click", ({ target }) => play(target));
    this.keys = new WordKeys(this.finals, play);
    this.element.addEventListener("pointerleave", () => onPoint(null));
  }

  /** Show what the transcript holds now; words already shown as final are not touched. */
  render() {
    const { paragraphs, partial } = this.transcript;
    // Only the last paragraph may have grown; a stream may have thousands.
    for (let i = Math.max(0, this.paragraphs.length - 1); i < paragraphs.length; i++) {
      this.#renderParagraph(paragraphs[i], i);
    }
    this.#renderPartial(partial);
    for (const button of this.ofText) button.hidden = paragraphs.length === 0;
  }

  /** Say something under the text, such as what was really spoken. */
  annotate(/** @type {string} */ text) {
    this.remarks.push(text);
    this.notes.append(element("p", {}, text));
  }

  /** Nothing more will come; say so where the text does not show it. */
  settle() {
    const unsettled = this.transcript.close();
    this.settled = true;
    this.render();
    if (unsettled) this.annotate("The stream ended before the last words were settled.");
    if (!this.paragraphs.length) this.annotate("No words were recognised.");
  }

  /** What to keep of it; a take that still goes on would end here. */
  kept() {
    const { name, at, remarks, transcript } = this;
    const { paragraphs, partial } = transcript;
    if (this.settled) return { name, at, paragraphs, notes: remarks };
    const said = partial.words.length ? [...paragraphs, partial.words] : paragraphs;
    return { name, at, paragraphs: said, notes: [...remarks, "The page was reloaded here."] };
  }

  /** Put another action beside those of every take. */
  offer(/** @type {string} */ label, /** @type {() => void} */ run) {
    this.actions.append(element("button", { type: "button", onclick: run }, label));
  }

  /** Play a word that is clicked, or chosen by the keyboard. */
  playWords(/** @type {(word: Word) => void} */ play) {
    this.onPlay = play;
    this.element.classList.add("playable");
    this.keys.begin();
  }

  /** Show something under the text, in the place of what was shown there. */
  beside(/** @type {Node|string} */ shown) {
    this.aside.replaceChildren(shown);
  }

  /** Show the messages of its stream. @param {import("../listen/event-log.js").EventLog} log */
  showEvents(log) {
    this.events = new EventsView(log, () => this.#download("jsonl", log.lines(), "text/plain"));
    this.element.append(this.events.element);
  }

  /** @param {() => void} onCancel */
  showProgress(onCancel) {
    const bar = element("progress", { "aria-label": `Transcribing ${this.name}` });
    const text = element("span", { class: "progress-text" }, "Sending");
    const cancel = element(
      "button",
      { type: "button", class: "quiet", onclick: onCancel },
      "Cancel",
    );
    const line = element("div", { class: "progress" }, bar, text, cancel);
    this.notes.before(line);
    return {
      remove: () => line.remove(),
      say: (/** @type {string} */ what) => {
        text.textContent = what;
      },
      update: (/** @type {import("../listen/file-upload.js").Progress} */ { doneS, totalS }) => {
        if (totalS) bar.value = doneS / totalS;
        text.textContent = totalS ? `${clock(doneS)} of ${clock(totalS)}` : clock(doneS);
      },
    };
  }

  #renderParagraph(words, i) {
    this.paragraphs[i] ??= this.#newParagraph(words[0]);
    const paragraph = this.paragraphs[i];
    paragraph.p.append(...words.slice(paragraph.shown).flatMap((word) => [this.#word(word), " "]));
    paragraph.shown = words.length;
  }

  #newParagraph(word) {
    const p = element(
      "p",
      {},
      element("span", { class: "at", "aria-hidden": "true" }, clock(word.startS)),
    );
    this.finals.append(p);
    return { p, shown: 0 };
  }

  #renderPartial({ words, stableWords }) {
    const goesOn = this.transcript.paragraphOpen;
    const at =
      words.length && !goesOn ? [element("span", { class: "at" }, clock(words[0].startS))] : [];
    const spans = words.map((word, i) => this.#word(word, i < stableWords ? "stable" : "unstable"));
    this.partial.replaceChildren(...at, ...spans.flatMap((span) => [span, " "]));
  }

  #word(word, stage = "final") {
    const classes = ["word", stage];
    if (word.boosted) classes.push("boosted");
    if (stage === "final" && word.confidence < UNSURE_BELOW) classes.push("unsure");
    const span = element("span", { class: classes.join(" "), "data-when": when(word) }, word.text);
    this.wordOf.set(span, word);
    return span;
  }

  #buttons() {
    const run = () => this.#copy(copy);
    const copy = element("button", { type: "button", hidden: true, onclick: run }, "Copy");
    const saves = Object.entries(FORMATS).map(([extension, { label }]) =>
      element(
        "button",
        {
          type: "button",
          "aria-label": `Save as ${label}`,
          hidden: true,
          onclick: () => this.#save(extension),
        },
        label,
      ),
    );
    return [copy, ...saves];
  }

  async #copy(button) {
    // Without https there is no clipboard; the saved text file is the way then.
    if (!navigator.clipboard) return this.#save("txt");
    await navigator.clipboard.writeText(this.transcript.text());
    button.textContent = "Copied";
    return setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  }

  #save(extension) {
    const { mime, write } = FORMATS[extension];
    this.#download(extension, write(this.transcript.paragraphs), mime);
  }

  #download(extension, text, type) {
    const blob = new Blob([text], { type });
    const href = URL.createObjectURL(blob);
    const name = this.name
      .replace(/\.[^.]+$/, "")
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .toLowerCase();
    element("a", { href, download: `${name}.${extension}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }
}

/** 75.3 → "1:15" */
function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

function when({ startS, endS, confidence, boosted }) {
  const sure = `${Math.round(confidence * 100)} % sure`;
  return `${startS.toFixed(2)} to ${endS.toFixed(2)} s · ${sure}${boosted ? " · boosted" : ""}`;
}
