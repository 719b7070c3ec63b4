/**
 * Time from audio sent to result received, as the person at the page feels it.
 *
 * Each chunk's end is noted with the moment it was sent. A result that covers the audio up to t
 * is late by the time since the audio at t left the page. For a final this includes the pause that
 * told the server that the sentence was over.
 */

const KEPT_S = 60;
const MEDIAN_OF = 31;

export class SentClock {
  constructor() {
    /** @type {{endS: number, sentMs: number}[]} ascending */
    this.chunks = [];
    this.sentS = 0;
    this.forgottenS = 0;
  }

  /** Note a chunk that was sent at `nowMs`. */
  record(seconds, nowMs) {
    this.sentS += seconds;
    this.chunks.push({ endS: this.sentS, sentMs: nowMs });
    while (this.chunks[0].endS < this.sentS - KEPT_S) this.forgottenS = this.chunks.shift().endS;
  }

  /** Milliseconds since the audio up to `audioS` was sent; null if that is not known. */
  latencyMs(audioS, nowMs) {
    if (audioS < this.forgottenS || !this.chunks.length) return null;
    // Times on the wire are rounded, so a result may end a hair after the audio that was sent.
    const chunk = this.chunks.find(({ endS }) => endS >= audioS) ?? this.chunks.at(-1);
    return nowMs - chunk.sentMs;
  }
}

/** Median of the last values, so that one late result does not make the number dance. */
export class RunningMedian {
  constructor(size = MEDIAN_OF) {
    this.size = size;
    /** @type {number[]} */
    this.values = [];
  }

  add(/** @type {number} */ value) {
    this.values.push(value);
    if (this.values.length > this.size) this.values.shift();
  }

  /** @returns {number|null} null before the first value */
  get() {
    if (!this.values.length) return null;
    const sorted = this.values.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1];
  }
}
