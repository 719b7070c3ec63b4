/**
 * The state of the stream, its latency, and the problem there may be with it.
 */

import { element } from "./elements.js";

/** @typedef {import("../listen/session.js").SessionState} SessionState */

/** What the button does, and what is going on, by state. */
const STATES = {
  idle: ["Start listening", "Ready"],
  opening: ["Cancel", "Opening"],
  connecting: ["Cancel", "Connecting"],
  open: ["Stop", "Listening"],
  finishing: ["Finishing", "Finishing the last words"],
  closed: ["Start listening", "Ready"],
};

export class Status {
  /** @param {Record<string, any>} parts button, label, state, finalize, words, finals, sent */
  constructor(parts) {
    this.parts = parts;
    this.show("idle");
  }

  /** @param {SessionState} state @param {{name: string, opening: string}} [source] */
  show(state, source) {
    const { button, label, state: text, finalize } = this.parts;
    const [action, meaning] = STATES[state];
    label.textContent = action;
    this.meaning = state === "open" ? `${meaning}: ${source.name}` : meaning;
    if (state === "opening") this.meaning = source.opening;
    text.textContent = this.meaning;
    button.dataset.state = state;
    button.disabled = state === "finishing";
    finalize.disabled = state !== "open";
  }

  /**
   * A file is being read; nobody waits for its words one by one, so there are no latencies.
   * @param {string} name
   * @param {{doneS: number, tookS: number}} progress seconds of its sound, and those it took
   */
  showFile(name, { doneS, tookS }) {
    const speed = tookS > 0 && doneS > 0 ? `, ${(doneS / tookS).toFixed(1)} times real time` : "";
    this.remark(`Reading ${name}${speed}`);
    this.parts.words.textContent = this.parts.finals.textContent = duration(null);
    this.parts.sent.textContent = `${doneS.toFixed(1)} s`;
  }

  /** Put a remark in the state's place; null takes it back. @param {string|null} text */
  remark(text) {
    const shown = text ?? this.meaning;
    // Setting the same text again would be read aloud again.
    if (this.parts.state.textContent !== shown) this.parts.state.textContent = shown;
  }

  /** @param {import("../listen/session.js").Session} session */
  showLatency({ latency, sent }) {
    this.parts.words.textContent = duration(latency.partial.get());
    this.parts.finals.textContent = duration(latency.final.get());
    this.parts.sent.textContent = `${sent.sentS.toFixed(1)} s`;
  }
}

/** The message about what went wrong. It stays until dismissed or until the next start. */
export class Notice {
  /** @param {HTMLElement} container @param {() => void} onDismiss somebody has read it */
  constructor(container, onDismiss) {
    this.container = container;
    this.onDismiss = onDismiss;
  }

  /**
   * @param {import("../problems/problems.js").Problem} problem
   * @param {{label: string, run: () => void}} [remedy]
   */
  show({ key, title, advice }, remedy) {
    const dismiss = element(
      "button",
      { type: "button", class: "quiet", onclick: () => this.#dismiss() },
      "Dismiss",
    );
    const act =
      remedy &&
      element(
        "button",
        { type: "button", class: "remedy", onclick: () => remedy.run() },
        remedy.label,
      );
    this.container.replaceChildren(
      element(
        "div",
        { class: "problem", "data-problem": key },
        element(
          "div",
          { class: "problem-text" },
          element("p", { class: "problem-title" }, title),
          element("p", {}, advice),
        ),
        element("div", { class: "problem-actions" }, ...(act ? [act] : []), dismiss),
      ),
    );
  }

  #dismiss() {
    this.clear();
    this.onDismiss();
  }

  clear() {
    this.container.replaceChildren();
  }
}

/** 180 → "180 ms", 2380 → "2.4 s" */
function duration(ms) {
  if (ms === null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
