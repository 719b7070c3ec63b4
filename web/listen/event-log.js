/**
 * The messages of one stream as they came, the newest of them kept. Pure data.
 */

export const MOST_EVENTS = 500;

/** @typedef {{number: number, atS: number, message: Record<string, any>}} LoggedEvent */

export class EventLog {
  constructor(most = MOST_EVENTS) {
    this.most = most;
    /** All that came, also those that are no longer kept. */
    this.count = 0;
    /** @type {LoggedEvent[]} oldest first */
    this.events = [];
  }

  /** @param {object} message @param {number} atS seconds since the first of them was awaited */
  add(message, atS) {
    this.count += 1;
    this.events.push({ number: this.count, atS, message });
    if (this.events.length > this.most) this.events.shift();
  }

  /** One message a line, as `jq` reads it. */
  lines() {
    return this.events.map(({ message }) => `${JSON.stringify(message)}\n`).join("");
  }
}

/** What a message says, in a few words. @param {Record<string, any>} message */
export function summary({ type, is_final: isFinal, speech_final: over, channel, description }) {
  if (type !== "Results") return description ?? "";
  const text = channel?.alternatives?.[0]?.transcript || "no words";
  return `${isFinal ? (over ? "final, end of speech" : "final") : "partial"}: ${text}`;
}
