/**
 * The model as a fact: what the server says of it, and what its card says of its errors.
 */

import { abilities } from "./card.js";
import { element } from "../controls/elements.js";

/**
 * @param {HTMLElement} facts a description list @param {HTMLElement} said what the card says
 * @param {Record<string, any>} model an entry of /v1/models @param {string|null} card Markdown
 */
export function showModel(facts, said, model, card) {
  facts.replaceChildren(
    ...factsOf(model).map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value)),
    ),
  );
  const told = !card ? [element("p", {}, "This model brings no card.")] : content(card);
  said.replaceChildren(...told);
}

/** @returns {[string, string][]} what the server tells */
function factsOf(model) {
  const { languages = [], parameters, graph, neural_lm: neural, chunk_ms: chunk, version } = model;
  const told = [
    ["Languages", languages.join(", ")],
    ["Parameters", parameters && count(parameters)],
    ["Chunk", chunk && `${chunk} ms`],
    ["Words of its graph", graph && count(graph.words)],
    ["Neural language model", neural && `${count(neural.parameters)} parameters`],
    ["Version", version],
  ];
  return told.filter(([, value]) => value);
}

function count(number) {
  return number.toLocaleString("en");
}

function content(card) {
  return abilities(card).map(({ kind, items, rows }) => {
    if (kind === "table") return table(rows);
    if (kind === "list") return element("ul", {}, ...items.map((item) => filled("li", item)));
    return filled(kind === "heading" ? "h3" : "p", items[0]);
  });
}

function table([head, ...rows]) {
  const row = (cells, tag) => element("tr", {}, ...cells.map((cell) => filled(tag, cell)));
  return element(
    "table",
    {},
    element("thead", {}, row(head, "th")),
    element("tbody", {}, ...rows.map((cells) => row(cells, "td"))),
  );
}

function filled(tag, /** @type {import("./card.js").Span[]} */ spans) {
  return element(
    tag,
    {},
    ...spans.map(({ text, style }) => (style ? element(style, {}, text) : text)),
  );
}
