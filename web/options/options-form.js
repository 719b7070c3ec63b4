/**
 * The sheet with the options of a request. What is chosen holds from the next take on.
 */

import { element } from "../controls/elements.js";

/** Fields of the sheet by the option that they choose. */
const SELECTS = { lm: "lm", microphone: "microphone" };
const CHECKS = { punctuate: "punctuate", smartFormat: "smart-format" };
const NUMBERS = {
  endpointing: "endpointing",
  eotThreshold: "eot-threshold",
  eotTimeoutMs: "eot-timeout",
};

export class OptionsForm {
  /**
   * @param {HTMLElement} sheet holds the fields, each with its id
   * @param {HTMLElement} opener says how many options are chosen
   * @param {import("./options.js").Options} options
   */
  constructor(sheet, opener, options) {
    this.sheet = sheet;
    this.opener = opener;
    this.options = options;
    for (const [name, id] of Object.entries(SELECTS)) this.#watch(name, id, (it) => it.value);
    for (const [name, id] of Object.entries(CHECKS)) this.#watch(name, id, (it) => it.checked);
    for (const [name, id] of Object.entries(NUMBERS)) this.#watch(name, id, numberOf);
    this.#show();
  }

  /**
   * Offer what the server has.
   * @param {{models: string[], ownModel: boolean, detectsTurns: boolean}} offer names of language
   *   models; whether the server has one of its own; whether words end an utterance
   */
  offer({ models, ownModel, detectsTurns }) {
    const named = models.map((name) => [name, name]);
    const own = ["", "Server’s own"];
    const choices = ownModel ? [own, ...named, ["off", "None"]] : [["", "None"]];
    this.options.haveModels(choices.map(([value]) => value));
    this.#field("lm").replaceChildren(...choices.map(choice));
    for (const field of this.sheet.querySelectorAll(".of-turns")) field.hidden = !detectsTurns;
    this.#show();
  }

  /** @param {{id: string, label: string}[]} microphones those that the browser tells of */
  offerMicrophones(microphones) {
    const named = microphones.map(({ id, label }) => [id, label]);
    this.#field("microphone").replaceChildren(
      ...[["", "Browser’s choice"], ...named].map(choice),
    );
    this.#show();
  }

  #field(id) {
    return this.sheet.querySelector(`#option-${id}`);
  }

  #watch(name, id, read) {
    const field = this.#field(id);
    field.addEventListener("change", () => {
      if (!field.checkValidity()) return field.reportValidity();
      this.options.choose(name, read(field));
      return this.#show();
    });
  }

  #show() {
    const { chosen, count } = this.options;
    for (const [name, id] of Object.entries(SELECTS)) this.#field(id).value = chosen[name];
    for (const [name, id] of Object.entries(CHECKS)) this.#field(id).checked = chosen[name];
    for (const [name, id] of Object.entries(NUMBERS)) this.#field(id).value = chosen[name] ?? "";
    this.opener.textContent = count ? `Options (${count})` : "Options";
  }
}

function numberOf(field) {
  return field.value === "" ? null : field.valueAsNumber;
}

function choice([value, text]) {
  return element("option", { value }, text);
}
