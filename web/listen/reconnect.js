/**
 * Starts a broken take again by itself: after a wait that doubles, and not for ever.
 */

/** Waits before each attempt, in seconds; after the last of them somebody has to click. */
export const WAITS_S = Object.freeze([2, 4, 8, 16, 30]);

export class Reconnect {
  #attempts = 0;
  #timer = 0;

  /** @param {Pick<typeof globalThis, "setTimeout"|"clearTimeout">} [timers] */
  constructor(timers = globalThis) {
    this.timers = timers;
  }

  /**
   * Run `connect` after the next wait.
   * @param {() => void} connect
   * @returns {number|null} the wait in seconds; null: there were enough attempts
   */
  schedule(connect) {
    const waitS = WAITS_S[this.#attempts];
    if (waitS === undefined) return null;
    this.#attempts += 1;
    this.#timer = this.timers.setTimeout(connect, waitS * 1000);
    return waitS;
  }

  /** Somebody does something else. */
  cancel() {
    this.timers.clearTimeout(this.#timer);
  }

  /** Words came again: the next break is a first one. */
  succeeded() {
    this.#attempts = 0;
  }
}
