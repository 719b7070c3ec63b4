/**
 * The list of boosted phrases: typed, weighed and removed at any time, also while speaking.
 */

import { WEIGHT } from "./boosts.js";
import { element } from "../controls/elements.js";

/** @typedef {import("../listen/listen-client.js").Boost} Boost */

/** In the place of a weight that nobody has chosen. */
const USUAL = "usual";

export class BoostEditor {
  /**
   * @param {Record<"form"|"input"|"list"|"state", any>} parts elements of the page
   * @param {import("./boosts.js").Boosts} boosts
   * @param {(boosts: Boost[]) => void} onChange
   */
  constructor(parts, boosts, onChange) {
    this.parts = parts;
    this.boosts = boosts;
    this.onChange = onChange;
    parts.form.addEventListener("submit", (event) => this.#submit(event));
    this.#render();
  }

  /** Say whether the running stream uses the phrases: "" | text. */
  say(/** @type {string} */ text) {
    this.parts.state.textContent = text;
  }

  /** Take what the server says of itself: sliders end where more weight changes nothing. */
  limit(/** @type {import("./boosts.js").BoostLimits} */ limits) {
    this.boosts.limit(limits);
    this.#render();
  }

  /** Say what becomes of a phrase. `boosted` false: the model cannot write it. */
  remark(/** @type {string} */ phrase, /** @type {string} */ description, { boosted }) {
    const row = this.#rowOf(phrase);
    row?.classList.toggle("unboostable", !boosted);
    row?.querySelector(".reason")?.replaceChildren(description);
  }

  #rowOf(/** @type {string} */ phrase) {
    return [...this.parts.list.children].find((item) => item.dataset.phrase === phrase);
  }

  #submit(event) {
    event.preventDefault();
    const { added, leftOut } = this.boosts.add(this.parts.input.value);
    if (added.length) this.#changed();
    if (leftOut.length) this.say(this.#tooMany(leftOut.length));
    this.parts.input.value = "";
    this.parts.input.focus();
    if (added.length) this.#rowOf(added.at(-1).phrase)?.scrollIntoView({ block: "nearest" });
  }

  #tooMany(count) {
    const { phrases, phraseCharacters, characters } = this.boosts.limits;
    return (
      `${count} left out: this server takes ${phrases} phrases of ${phraseCharacters} ` +
      `characters, and ${characters} characters in all`
    );
  }

  #changed() {
    this.#render();
    this.onChange(this.boosts.list);
  }

  #render() {
    this.parts.list.replaceChildren(...this.boosts.list.map((boost) => this.#row(boost)));
  }

  #row({ phrase, weight }) {
    const number = element("output", { class: "weight" }, weight?.toFixed(1) ?? USUAL);
    const slider = element("input", {
      type: "range",
      min: WEIGHT.least,
      max: this.boosts.mostWeight,
      step: WEIGHT.step,
      "aria-label": `Weight of ${phrase}`,
      oninput: () => {
        number.value = slider.valueAsNumber.toFixed(1);
      },
      onchange: () => this.#weigh(phrase, slider.valueAsNumber),
    });
    slider.value = weight ?? WEIGHT.start;
    const remove = element(
      "button",
      {
        type: "button",
        class: "remove",
        "aria-label": `Remove ${phrase}`,
        onclick: () => this.#remove(phrase),
      },
      "×",
    );
    return element(
      "li",
      { "data-phrase": phrase },
      element("span", { class: "phrase" }, phrase),
      slider,
      number,
      remove,
      element("span", { class: "reason" }),
    );
  }

  /** The row stays, so that the slider keeps the keyboard's focus. */
  #weigh(phrase, weight) {
    this.boosts.setWeight(phrase, weight);
    this.remark(phrase, "", { boosted: true }); // what was said of the weight before is over
    this.onChange(this.boosts.list);
  }

  #remove(phrase) {
    this.boosts.remove(phrase);
    this.#changed();
    this.parts.input.focus();
  }
}
