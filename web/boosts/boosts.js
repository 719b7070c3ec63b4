/**
 * The phrases a speaker wants favoured, with weights. Pure data, kept across visits.
 */

/** @typedef {import("../listen/listen-client.js").Boost} Boost */

/**
 * What a server takes. Characters are counted of phrases with their weights, as they are sent; a
 * larger weight than `weight` changes nothing.
 * @typedef {object} BoostLimits
 * @property {number} phrases
 * @property {number} phraseCharacters
 * @property {number} characters
 * @property {number} [weight]
 */

/** most: where the server does not say. start: where a slider stands that nobody has moved. */
export const WEIGHT = Object.freeze({ least: 0.5, most: 10, step: 0.5, start: 8 });
/** Of the protocol: servers may take less. @type {BoostLimits} */
export const USUAL_LIMITS = Object.freeze({
  phrases: 1000,
  phraseCharacters: 200,
  characters: 20_000,
});
const STORED_AS = "earshot.boosts";

export class Boosts {
  /** @param {Pick<Storage, "getItem"|"setItem">|null} storage */
  constructor(storage) {
    this.storage = storage;
    /** The server's, once it has told them. */
    this.limits = USUAL_LIMITS;
    /** @type {Boost[]} */
    this.list = readStored(storage);
  }

  /** The largest weight that changes anything. */
  get mostWeight() {
    return Math.max(WEIGHT.least, this.limits.weight ?? WEIGHT.most);
  }

  /** Take the server's limits; weights beyond them become the largest that counts. */
  limit(/** @type {BoostLimits} */ limits) {
    this.limits = limits;
    for (const boost of this.list) boost.weight = this.#clamped(boost.weight);
  }

  /**
   * Add what was typed: phrases between commas, each perhaps with ":weight".
   * @returns {{added: Boost[], leftOut: Boost[]}} those that are new or changed, and those that are
   *   more than the server takes
   */
  add(/** @type {string} */ typed) {
    const parsed = typed
      .split(",")
      .map(parseBoost)
      .filter((boost) => boost !== null);
    const [added, leftOut] = [[], []];
    let characters = this.list.reduce((sum, boost) => sum + sentLength(boost), 0);
    for (const boost of parsed) {
      const known = this.list.find(({ phrase }) => sameText(phrase, boost.phrase));
      if (!known && !this.#hasRoom(boost, characters)) {
        leftOut.push(boost);
        continue;
      }
      boost.weight = this.#clamped(boost.weight);
      if (known) known.weight = boost.weight;
      else {
        this.list.push(boost);
        characters += sentLength(boost);
      }
      added.push(boost);
    }
    this.#store();
    return { added, leftOut };
  }

  #hasRoom(/** @type {Boost} */ boost, /** @type {number} */ characters) {
    return (
      this.list.length < this.limits.phrases &&
      length(boost.phrase) <= this.limits.phraseCharacters &&
      characters + sentLength(boost) <= this.limits.characters
    );
  }

  setWeight(/** @type {string} */ phrase, /** @type {number} */ weight) {
    const boost = this.list.find((candidate) => candidate.phrase === phrase);
    if (boost) boost.weight = this.#clamped(weight);
    this.#store();
  }

  remove(/** @type {string} */ phrase) {
    this.list = this.list.filter((boost) => boost.phrase !== phrase);
    this.#store();
  }

  /** A weight that counts; what nobody has chosen stays the server's choice. */
  #clamped(/** @type {number|null} */ weight) {
    if (weight === null) return null;
    return Math.min(this.mostWeight, Math.max(WEIGHT.least, weight));
  }

  #store() {
    this.storage?.setItem(STORED_AS, JSON.stringify(this.list));
  }
}

/**
 * "smart mirror:4" → {phrase: "smart mirror", weight: 4}; weight null: as much as the server likes.
 * @returns {Boost|null}
 */
export function parseBoost(typed) {
  const [, phrase, weight] = /^(.*?)(?::\s*(\d+(?:\.\d+)?))?$/.exec(typed.trim());
  // The protocol writes phrase:weight, so the phrase itself can hold no colon.
  const clean = phrase.replaceAll(":", " ").replace(/\s+/g, " ").trim();
  return clean ? { phrase: clean, weight: weight ? Number(weight) : null } : null;
}

/** In characters as the server counts them, not in UTF-16. */
function length(text) {
  return [...text].length;
}

/** As it is sent. @param {Boost} boost */
export function keyword({ phrase, weight }) {
  return weight === null ? phrase : `${phrase}:${weight}`;
}

function sentLength(/** @type {Boost} */ boost) {
  return length(keyword(boost));
}

function sameText(a, b) {
  return a.toLowerCase() === b.toLowerCase();
}

/** What another version of the page stored may not fit: keep what does. @returns {Boost[]} */
function readStored(storage) {
  try {
    const stored = JSON.parse(storage?.getItem(STORED_AS) ?? "[]");
    return stored.filter(
      ({ phrase, weight }) =>
        typeof phrase === "string" && (weight === null || Number.isFinite(weight)),
    );
  } catch {
    return [];
  }
}
