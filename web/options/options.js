/**
 * What a request may ask for besides its boosts. Pure data, kept across visits.
 *
 * What nobody has chosen is not sent: then the server's own choice holds.
 */

/**
 * @typedef {object} Chosen
 * @property {string} lm a language model's name, "off", or "" for the server's own way
 * @property {boolean} punctuate capitals and marks
 * @property {boolean} smartFormat figures, which bring capitals and marks
 * @property {number|null} endpointing milliseconds
 * @property {number|null} eotThreshold
 * @property {number|null} eotTimeoutMs
 * @property {string} microphone a device's id, or "" for the browser's choice
 */

/** @type {Readonly<Chosen>} */
export const UNCHOSEN = Object.freeze({
  lm: "",
  punctuate: true,
  smartFormat: false,
  endpointing: null,
  eotThreshold: null,
  eotTimeoutMs: null,
  microphone: "",
});
const STORED_AS = "earshot.options";

export class Options {
  /** @param {Pick<Storage, "getItem"|"setItem">|null} storage */
  constructor(storage) {
    this.storage = storage;
    /** @type {Chosen} */
    this.chosen = { ...UNCHOSEN, ...readStored(storage) };
  }

  choose(/** @type {keyof Chosen} */ name, /** @type {any} */ value) {
    this.chosen = { ...this.chosen, [name]: value };
    this.storage?.setItem(STORED_AS, JSON.stringify(this.chosen));
  }

  /** How many are not as they were. */
  get count() {
    return Object.keys(UNCHOSEN).filter((name) => this.chosen[name] !== UNCHOSEN[name]).length;
  }

  /** Forget a language model that this server does not have. @param {string[]} names it has */
  haveModels(names) {
    if (this.chosen.lm !== "" && !names.includes(this.chosen.lm)) this.choose("lm", "");
  }

  /** As the protocol names them. @returns {Record<string, string>} */
  parameters() {
    const { lm, punctuate, smartFormat, endpointing, eotThreshold, eotTimeoutMs } = this.chosen;
    const asked = {
      punctuate: punctuate || null,
      smart_format: smartFormat || null,
      lm: lm || null,
      endpointing,
      eot_threshold: eotThreshold,
      eot_timeout_ms: eotTimeoutMs,
    };
    const named = Object.entries(asked).filter(([, value]) => value !== null);
    return Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
  }
}

/** What another version of the page stored may not fit: keep what does. */
function readStored(storage) {
  try {
    const stored = Object.entries(JSON.parse(storage?.getItem(STORED_AS) ?? "{}"));
    return Object.fromEntries(stored.filter(([name, value]) => fits(name, value)));
  } catch {
    return {};
  }
}

function fits(name, value) {
  if (!Object.hasOwn(UNCHOSEN, name)) return false;
  return UNCHOSEN[name] === null
    ? value === null || Number.isFinite(value)
    : typeof value === typeof UNCHOSEN[name];
}
