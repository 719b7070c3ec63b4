/**
 * All takes on the page, oldest first: shown, kept through a reload, and taken off again.
 */

import { Transcript } from "./transcript.js";
import { TakeView } from "./take-view.js";

export class Shelf {
  /** @type {Set<TakeView>} */
  #views = new Set();

  /** @param {HTMLElement} place @param {import("./kept-takes.js").KeptTakes} keptTakes */
  constructor(place, keptTakes) {
    this.place = place;
    this.keptTakes = keptTakes;
  }

  show(/** @type {TakeView} */ view) {
    this.#views.add(view);
    this.place.append(view.element);
    view.element.scrollIntoView({ block: "end" });
  }

  drop(/** @type {TakeView} */ view) {
    this.#views.delete(view);
    view.element.remove();
  }

  /** Keep what is on the page through a reload. */
  keep() {
    this.keptTakes.write([...this.#views].map((view) => view.kept()));
  }

  restore() {
    for (const { name, at, paragraphs, notes } of this.keptTakes.read()) {
      const view = new TakeView(name, new Transcript(paragraphs), { at });
      view.settled = true;
      view.render();
      for (const note of notes) view.annotate(note);
      this.show(view);
    }
  }

  /** Take all off the page, and out of the browser, but what is under way. */
  forget() {
    for (const view of this.#views) if (view.settled) this.drop(view);
    this.keptTakes.clear();
  }
}

/**
 * Change a take; if its end was in view, keep it in view, else leave the reader where they are.
 * @param {TakeView} view @param {() => void} change
 */
export function keepingUp({ element: take }, change) {
  const inView = take.getBoundingClientRect().bottom < innerHeight;
  change();
  if (inView) take.scrollIntoView({ block: "end" });
}
