/**
 * Plays a stretch of a take's sound, one at a time on the page.
 */

// Times of words are of what was heard: the sound of one begins before and goes on behind.
const BEFORE_S = 0.05;
const BEHIND_S = 0.3;

export class Playback {
  #audio = new Audio();
  /** @type {Blob|null} */
  #sound = null;
  #stop = 0;

  /** Play a word. @param {Blob} sound @param {import("./transcript.js").Word} word */
  playWord(sound, { startS, endS }) {
    return this.#play(sound, Math.max(0, startS - BEFORE_S), endS + BEHIND_S);
  }

  /** Play all of it, or stop where it plays. @param {Blob} sound */
  toggle(sound) {
    if (this.#sound === sound && !this.#audio.paused) return this.#audio.pause();
    return this.#play(sound, 0, Infinity);
  }

  /** Stop, and let the browser forget the sound. */
  release() {
    clearTimeout(this.#stop);
    this.#audio.pause();
    if (this.#audio.src) URL.revokeObjectURL(this.#audio.src);
    this.#audio.removeAttribute("src");
    this.#audio.load(); // else the browser keeps what it has read
    this.#sound = null;
  }

  async #play(sound, startS, endS) {
    clearTimeout(this.#stop);
    if (this.#sound !== sound) this.#load(sound);
    this.#audio.currentTime = startS;
    try {
      await this.#audio.play();
    } catch (error) {
      if (error.name === "AbortError") return; // another word was clicked before this one began
      throw error;
    }
    clearTimeout(this.#stop); // of a word that began while this one was waited for
    if (endS < Infinity)
      this.#stop = setTimeout(() => this.#audio.pause(), (endS - startS) * 1000);
  }

  #load(sound) {
    this.release();
    this.#audio.src = URL.createObjectURL(sound);
    this.#sound = sound;
  }
}
