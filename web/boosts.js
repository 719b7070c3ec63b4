/**
 * The phrases a speaker wants favoured, with weights. Pure data, kept across visits.
 */

/** @typedef {import("./listen-client.js").Boost} Boost */

export const WEIGHT = Object.freeze({ least: 0.5, most: 10, step: 0.5, usual: 3 });
const MOST_PHRASES = 100;
const STORED_AS = "earshot.boosts";

export class Boosts {
  /** @param {Pick<Storage, "getItem"|"setItem">|null} storage */
  constructor(storage) {
    this.storage = storage;
    /** @type {Boost[]} */
    this.list = readStored(storage);
  }

  /**
   * Add what was typed: phrases between commas, each perhaps with ":weight".
   * @returns {Boost[]} those that are new or changed
   */
  add(/** @type {string} */ typed) {
    const parsed = typed
      .split(",")
      .map(parseBoost)
      .filter((boost) => boost !== null);
    for (const boost of parsed) {
      const known = this.list.find(({ phrase }) => sameText(phrase, boost.phrase));
      if (known) known.weight = boost.weight;
      else if (this.list.length < MOST_PHRASES) this.list.push(boost);
    }
    this.#store();
    return parsed;
  }

  setWeight(/** @type {string} */ phrase, /** @type {number} */ weight) {
    const boost = this.list.find((candidate) => candidate.phrase === phrase);
    if (boost) boost.weight = clamped(weight);
    this.#store();
  }

  remove(/** @type {string} */ phrase) {
    this.list = this.list.filter((boost) => boost.phrase !== phrase);
    this.#store();
  }

  #store() {
    this.storage?.setItem(STORED_AS, JSON.stringify(this.list));
  }
}

/** "smart mirror:4" → {phrase: "smart mirror", weight: 4} @returns {Boost|null} */
export function parseBoost(typed) {
  const [, phrase, weight] = /^(.*?)(?::\s*(\d+(?:\.\d+)?))?$/.exec(typed.trim());
  // The protocol writes phrase:weight, so the phrase itself can hold no colon.
  const clean = phrase.replaceAll(":", " ").replace(/\s+/g, " ").trim();
  return clean ? { phrase: clean, weight: clamped(weight ? Number(weight) : WEIGHT.usual) } : null;
}

function clamped(weight) {
  return Math.min(WEIGHT.most, Math.max(WEIGHT.least, weight));
}

function sameText(a, b) {
  return a.toLowerCase() === b.toLowerCase();
}

/** What another version of the page stored may not fit: keep what does. @returns {Boost[]} */
function readStored(storage) {
  try {
    const stored = JSON.parse(storage?.getItem(STORED_AS) ?? "[]");
    return stored.filter(
      ({ phrase, weight }) => typeof phrase === "string" && Number.isFinite(weight),
    );
  } catch {
    return [];
  }
}
