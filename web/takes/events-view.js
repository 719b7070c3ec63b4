/**
 * The messages of a take, newest first, each opened by a click. It is drawn while it is open.
 */

import { element } from "../controls/elements.js";
import { summary } from "../listen/event-log.js";

/** So many are shown; all that are kept can be saved. */
const SHOWN = 12;

export class EventsView {
  /** @param {import("../listen/event-log.js").EventLog} log @param {() => void} onSave */
  constructor(log, onSave) {
    this.log = log;
    this.list = element("ol", { class: "event-list" });
    this.count = element("span", { class: "event-count" });
    this.shownNumber = 0;
    const save = element(
      "button",
      { type: "button", class: "quiet", onclick: onSave },
      "Save as JSON lines",
    );
    this.element = element(
      "details",
      { class: "events", ontoggle: () => this.render() },
      element("summary", {}, "Messages ", this.count),
      this.list,
      save,
    );
  }

  render() {
    this.count.textContent = String(this.log.count);
    if (!this.element.open) return;
    const newer = this.log.events.filter(({ number }) => number > this.shownNumber).slice(-SHOWN);
    for (const event of newer) this.list.prepend(row(event));
    while (this.list.children.length > SHOWN) this.list.lastChild.remove();
    this.shownNumber = this.log.count;
  }
}

/** @param {import("../listen/event-log.js").LoggedEvent} event */
function row({ atS, message }) {
  const time = element("span", { class: "event-at" }, `${atS.toFixed(2)} s`);
  const line = element("summary", {}, time, element("b", {}, message.type), ` ${summary(message)}`);
  const whole = element("details", { class: "event" }, line);
  whole.addEventListener("toggle", () => {
    if (whole.children.length === 1)
      whole.append(element("pre", {}, JSON.stringify(message, null, 2)));
  });
  return element("li", {}, whole);
}
