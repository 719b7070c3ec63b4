/**
 * What can be done with a take whose sound is at hand: play it, play a word, hear it again with
 * boosts and without.
 */

import { compare } from "./comparison.js";
import { Playback } from "./playback.js";
import { SourceError } from "../problems/source-error.js";

export class SoundActions {
  #playback = new Playback();
  /** Takes that are heard again just now. @type {Set<import("./take-view.js").TakeView>} */
  #compared = new Set();

  /**
   * @param {object} parts
   * @param {string} parts.base address of the page
   * @param {import("../controls/status.js").Notice} parts.notice
   * @param {() => import("../listen/file-upload.js").Asked} parts.asked
   */
  constructor({ base, notice, asked }) {
    this.base = base;
    this.notice = notice;
    this.asked = asked;
  }

  /** @param {import("./take-view.js").TakeView} view @param {Blob} sound */
  offer(view, sound) {
    view.playWords((word) => this.#play(view, this.#playback.playWord(sound, word)));
    view.offer("Play", () => this.#play(view, this.#playback.toggle(sound)));
    view.offer("Compare", () => this.#compare(view, sound));
  }

  /** The takes are off the page: let go of their sound. */
  forget() {
    this.#playback.release();
  }

  /** Servers read more kinds of files than browsers play. */
  async #play(view, playing) {
    try {
      await playing;
    } catch (error) {
      if (error.name !== "NotSupportedError") throw error;
      view.beside("This browser cannot play this file.");
    }
  }

  async #compare(view, sound) {
    const asked = this.asked();
    if (!asked.boosts.length) return view.beside("Add a boosted word, then compare.");
    if (this.#compared.has(view)) return null; // its answer is on its way
    this.#compared.add(view);
    view.beside("Hearing it twice …");
    try {
      return view.beside(await compare(this.base, sound, asked));
    } catch (error) {
      view.beside("");
      if (!(error instanceof SourceError)) throw error;
      return this.notice.show(error.problem);
    } finally {
      this.#compared.delete(view);
    }
  }
}
