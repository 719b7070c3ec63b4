/**
 * What the page asks the server besides speech: which model, which recordings, and how it is when
 * a stream was refused.
 */

/** @typedef {import("../problems/problems.js").ServerCondition} ServerCondition */
/** @typedef {import("../boosts/boosts.js").BoostLimits} BoostLimits */
/**
 * @typedef {object} About
 * @property {Record<string, any>|null} model an entry of /v1/models
 * @property {BoostLimits|null} boostLimits
 * @property {string[]} languageModels
 */

const ANSWER_WITHIN_MS = 4_000;

export class Server {
  /** @param {string} base address of the page */
  constructor(base) {
    this.base = base;
  }

  /**
   * The model that answers, how much may be boosted, and the language models that may be named;
   * null where the server does not say.
   * @returns {Promise<About>}
   */
  async about() {
    const answer = await this.#get("v1/models");
    const { stt, boost_limits: limits, language_models: named = [] } = await told(answer, {});
    return {
      model: stt?.[0] ?? null,
      boostLimits: limits ? boostLimits(limits) : null,
      languageModels: named.map(({ name }) => name),
    };
  }

  /** What the model's makers say of it, in Markdown. @returns {Promise<string|null>} */
  async card() {
    const answer = await this.#get("v1/card");
    return (await told(answer, {})).card ?? null;
  }

  /** @returns {Promise<import("../capture/clip.js").Sample[]>} */
  async samples() {
    const answer = await this.#get("web/samples/samples.json");
    return told(answer, []);
  }

  sampleAddress(/** @type {string} */ file) {
    return new URL(`web/samples/${file}`, this.base).href;
  }

  /** @returns {Promise<ServerCondition>} */
  async condition() {
    const answer = await this.#get("readyz");
    if (!answer) return { reachable: false, ready: false, full: false };
    const { status } = await answer.json().catch(() => ({})); // a proxy answers in HTML
    return { reachable: true, ready: answer.ok, full: status === "busy" };
  }

  /** @returns {Promise<Response|null>} null if nothing answered */
  async #get(path) {
    try {
      return await fetch(new URL(path, this.base), {
        cache: "no-store",
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
    } catch {
      return null;
    }
  }
}

/** What an answer tells; a proxy answers in HTML. @param {Response|null} answer */
async function told(answer, otherwise) {
  return answer?.ok ? answer.json().catch(() => otherwise) : otherwise;
}

/** @returns {BoostLimits} */
function boostLimits({ phrases, phrase_characters: phraseCharacters, characters, weight }) {
  return { phrases, phraseCharacters, characters, weight };
}
