/**
 * The text of one stream: paragraphs of final words, then the partial that may still change.
 *
 * Pure data. A paragraph ends where the speaker paused (`speech_final`); a final that only cut a
 * long utterance goes on in the same paragraph.
 */

/**
 * @typedef {object} Word
 * @property {string} text
 * @property {number} startS seconds of the stream's own audio
 * @property {number} endS
 * @property {number} confidence 0 to 1
 * @property {boolean} boosted whether a boosted phrase put it there
 */

/** @typedef {{words: Word[], stableWords: number}} Partial */

export const UNSURE_BELOW = 0.5;

export class Transcript {
  /** @param {Word[][]} paragraphs what is final already */
  constructor(paragraphs = []) {
    this.paragraphs = paragraphs;
    /** @type {Partial} */
    this.partial = { words: [], stableWords: 0 };
    this.finalS = 0;
    this.heardS = 0;
    this.paragraphOpen = false;
  }

  /**
   * Take in a Results message.
   * @returns {Word[]} the words that became final
   */
  apply(results) {
    const words = readWords(results);
    this.heardS = Math.max(this.heardS, results.start + results.duration);
    if (!results.is_final) {
      this.partial = { words, stableWords: Math.min(results.stable_words ?? 0, words.length) };
      return [];
    }
    this.partial = { words: [], stableWords: 0 };
    this.finalS = Math.max(this.finalS, results.start + results.duration);
    if (words.length) this.#append(words);
    if (results.speech_final) this.paragraphOpen = false;
    return words;
  }

  /**
   * Nothing more will come. A partial that was never settled stays as text: it was said.
   * @returns {boolean} whether there was such a partial
   */
  close() {
    const { words } = this.partial;
    if (words.length) this.#append(words);
    this.partial = { words: [], stableWords: 0 };
    this.heardS = this.finalS = Infinity;
    return words.length > 0;
  }

  /** All final words, in order. */
  words() {
    return this.paragraphs.flat();
  }

  /** Final text, one line per paragraph. */
  text() {
    return this.paragraphs.map((words) => words.map((word) => word.text).join(" ")).join("\n");
  }

  #append(words) {
    if (this.paragraphOpen) this.paragraphs.at(-1).push(...words);
    else this.paragraphs.push([...words]);
    this.paragraphOpen = true;
  }
}

/** Words of a Results message, or of one channel of a REST answer. @returns {Word[]} */
export function readWords({ start = 0, duration = 0, channel }) {
  const best = channel?.alternatives?.[0];
  if (!best) return [];
  if (best.words?.length) return best.words.map(readWord);
  // A server may leave words out of partials: keep the text, spread over the result's time.
  const texts = (best.transcript ?? "").split(/\s+/).filter(Boolean);
  const step = duration / (texts.length || 1);
  return texts.map((text, i) => ({
    text,
    startS: start + i * step,
    endS: start + (i + 1) * step,
    confidence: best.confidence ?? 1,
    boosted: false,
  }));
}

/** @returns {Word} */
function readWord({ word, punctuated_word, start, end, confidence, boosted }) {
  return {
    text: punctuated_word ?? word,
    startS: start,
    endS: end,
    confidence: confidence ?? 1,
    boosted: boosted === true,
  };
}
