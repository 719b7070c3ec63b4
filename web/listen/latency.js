/**
 * Time from audio sent to result received, as the person at the page feels it.
 *
 * Each chunk's end is noted with the moment it was sent. A partial that covers the audio up to t is
 * late by the time since the audio at t left the page. A final is late by the time since its last
 * word did: so the pause that tells the server that the sentence is over counts, which the person
 * waits through. The stretch that a final covers reaches into that pause, and says nothing of it.
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

/**
 * How late a Results message is, which has just come; null where that is not known, or where a
 * final has no words that anybody has waited for.
 * @returns {number|null}
 */
export function lateMs(results, /** @type {SentClock} */ sent, /** @type {number} */ nowMs) {
  if (!results.is_final) return sent.latencyMs(results.start + results.duration, nowMs);
  const last = results.channel.alternatives[0]?.words.at(-1);
  return last ? sent.latencyMs(last.end, nowMs) : null;
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
