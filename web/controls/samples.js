/**
 * The list of recorded clips.
 */

import { element } from "./elements.js";

/** @typedef {import("../capture/clip.js").Sample} Sample */

/** @param {HTMLElement} list @param {Sample[]} samples @param {(sample: Sample) => void} onPlay */
export function listSamples(list, samples, onPlay) {
  list.replaceChildren(
    ...samples.map((sample) =>
      element(
        "li",
        {},
        element(
          "button",
          { type: "button", class: "sample", onclick: () => onPlay(sample) },
          element("span", { class: "play", "aria-hidden": "true" }),
          element("span", { class: "sample-title" }, sample.title),
          element("span", { class: "sample-seconds" }, `${sample.seconds.toFixed(1)} s`),
        ),
      ),
    ),
  );
}
