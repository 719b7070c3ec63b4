/**
 * A take heard twice as a file, without its boosts and with them, side by side.
 */

import { differences } from "./differences.js";
import { Transcript } from "./transcript.js";
import { element } from "../controls/elements.js";
import { transcribeFile } from "../listen/file-upload.js";

/** @typedef {import("../listen/file-upload.js").Asked} Asked */

const REMARK = "Both were heard as a file: a stream of the same sound may be read otherwise.";

/**
 * @param {string} base address of the page @param {Blob} sound @param {Asked} asked
 * @returns {Promise<HTMLElement>} both texts
 * @throws {import("../problems/source-error.js").SourceError}
 */
export async function compare(base, sound, asked) {
  const without = await heard(base, sound, { ...asked, boosts: [] });
  const boosted = await heard(base, sound, asked);
  const [left, right] = differences(without.words, boosted.words);
  const phrases = asked.boosts.map(({ phrase }) => phrase).join(", ");
  return element(
    "div",
    { class: "comparison", role: "group", "aria-label": "With and without boosts" },
    column("Without boosts", left),
    column(`With ${phrases}`, right),
    ...[REMARK, ...boosted.warnings].map((remark) => element("small", {}, remark)),
  );
}

/** @returns {Promise<{words: string[], warnings: string[]}>} boosts that cannot be are warned of */
async function heard(base, sound, asked) {
  const transcript = new Transcript();
  const told = [];
  const { signal } = new AbortController();
  for await (const { segment, warnings = [] } of transcribeFile(base, sound, asked, signal)) {
    if (segment) transcript.apply(segment);
    told.push(...warnings);
  }
  return { words: transcript.words().map(({ text }) => text), warnings: told };
}

/** @param {string} title @param {import("./differences.js").Compared[]} compared */
function column(title, compared) {
  const shown = compared.flatMap(({ text, differs }) => [
    differs ? element("mark", {}, text) : text,
    " ",
  ]);
  const text = compared.length ? shown : ["No words were recognised."];
  return element("div", {}, element("h3", {}, title), element("p", {}, ...text));
}
