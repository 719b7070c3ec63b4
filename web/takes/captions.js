/**
 * Words with times become text, SubRip (SRT) or WebVTT, without asking the server again.
 */

/** @typedef {import("./transcript.js").Word} Word */

const LONGEST_CUE_S = 6;
const LONGEST_CUE_CHARACTERS = 84; // two lines of 42, the usual limit for subtitles
const PAUSE_S = 0.8;

/** @typedef {{label: string, mime: string, write: (paragraphs: Word[][]) => string}} Format */

/** @type {Record<string, Format>} by file extension */
export const FORMATS = {
  txt: { label: "Text", mime: "text/plain", write: plainText },
  srt: { label: "SRT", mime: "application/x-subrip", write: subRip },
  vtt: { label: "VTT", mime: "text/vtt", write: webVtt },
};

/** @param {Word[][]} paragraphs */
export function plainText(paragraphs) {
  return paragraphs.map((words) => `${joined(words)}\n`).join("");
}

/** @param {Word[][]} paragraphs */
export function subRip(paragraphs) {
  return cues(paragraphs)
    .map((words, i) => `${i + 1}\n${span(words, ",")}\n${joined(words)}\n`)
    .join("\n");
}

/** @param {Word[][]} paragraphs */
export function webVtt(paragraphs) {
  const blocks = cues(paragraphs).map(
    (words) => `${span(words, ".")}\n${escaped(joined(words))}\n`,
  );
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Split where a cue would get too long or cross a pause. @returns {Word[][]} */
export function cues(paragraphs) {
  const split = [];
  for (const words of paragraphs) {
    let cue = [];
    for (const word of words) {
      if (cue.length && !fits(cue, word)) {
        split.push(cue);
        cue = [];
      }
      cue.push(word);
    }
    if (cue.length) split.push(cue);
  }
  return split;
}

/** @param {Word[]} cue @param {Word} word */
function fits(cue, word) {
  return (
    word.startS - cue.at(-1).endS < PAUSE_S &&
    word.endS - cue[0].startS <= LONGEST_CUE_S &&
    joined([...cue, word]).length <= LONGEST_CUE_CHARACTERS
  );
}

function span(words, decimalMark) {
  return `${clock(words[0].startS, decimalMark)} --> ${clock(words.at(-1).endS, decimalMark)}`;
}

/** 3661.5 → "01:01:01,500" */
function clock(seconds, decimalMark) {
  const ms = Math.round(seconds * 1000);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const hms = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(two).join(":");
  return `${hms}${decimalMark}${String(ms % 1000).padStart(3, "0")}`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function joined(words) {
  return words.map((word) => word.text).join(" ");
}
