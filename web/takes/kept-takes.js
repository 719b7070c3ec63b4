/**
 * The takes of this tab, kept through a reload. Pure data.
 *
 * What people say is theirs: it goes into the tab's own storage, which the browser forgets when the
 * tab is closed, and not into that of the site, which the next person at the machine would find.
 */

/** @typedef {import("./transcript.js").Word} Word */

/**
 * @typedef {object} KeptTake
 * @property {string} name
 * @property {number} at when it began, in milliseconds since 1970
 * @property {Word[][]} paragraphs
 * @property {string[]} notes
 */

const STORED_AS = "earshot.takes";
/** About three hours of speech; browsers give a tab some five million. */
export const MOST_CHARACTERS = 1_000_000;
const CUT = "What came before was too much to be kept.";

export class KeptTakes {
  /** @param {Pick<Storage, "getItem"|"setItem"|"removeItem">|null} storage */
  constructor(storage) {
    this.storage = storage;
  }

  /** Whether the browser keeps anything: some private windows do not. */
  get works() {
    return this.storage !== null;
  }

  /** @returns {KeptTake[]} oldest first; none where what is stored is not ours */
  read() {
    try {
      return JSON.parse(this.storage?.getItem(STORED_AS) ?? "[]").map(unpacked);
    } catch {
      return [];
    }
  }

  /** Keep these takes, or as much of their end as there is room for. */
  write(/** @type {KeptTake[]} */ takes) {
    for (let room = MOST_CHARACTERS; this.storage && room > 1000; room /= 2) {
      try {
        this.storage.setItem(STORED_AS, JSON.stringify(newest(takes, room)));
        return;
      } catch {
        // The browser gives less room than that.
      }
    }
  }

  clear() {
    this.storage?.removeItem(STORED_AS);
  }
}

/** From the last paragraph back, as long as there is room. @param {KeptTake[]} takes */
function newest(takes, room) {
  const kept = [];
  for (const take of takes.toReversed()) {
    const { name, at, notes } = take;
    room -= JSON.stringify({ name, at, notes: [CUT, ...notes], paragraphs: [] }).length + 3;
    const paragraphs = [];
    for (const words of take.paragraphs.toReversed()) {
      const packed = words.map(pack);
      room -= JSON.stringify(packed).length + 1;
      if (room < 0) break;
      paragraphs.unshift(packed);
    }
    const cut = paragraphs.length < take.paragraphs.length;
    if (cut && !paragraphs.length) break;
    kept.unshift({ name, at, notes: cut ? [CUT, ...notes] : notes, paragraphs });
    if (cut) break;
  }
  return kept;
}

function pack({ text, startS, endS, confidence, boosted }) {
  return [text, startS, endS, confidence, boosted ? 1 : 0];
}

/** @returns {KeptTake} @throws where it is no take */
function unpacked({ name, at, notes, paragraphs }) {
  const word = ([text, startS, endS, confidence, boosted]) => ({
    text: String(text),
    startS: Number(startS),
    endS: Number(endS),
    confidence: Number(confidence),
    boosted: boosted === 1,
  });
  return {
    name: String(name),
    at: Number(at),
    notes: notes.map(String),
    paragraphs: paragraphs.map((words) => words.map(word)),
  };
}
