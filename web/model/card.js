/**
 * A model's card, in the Markdown that cards are written in, as blocks of spans. Pure data.
 *
 * Headings, paragraphs, lists and tables; bold, emphasis and code. Links are their text: where they
 * lead is beside the card and not on this page.
 */

/** @typedef {{text: string, style: ""|"strong"|"em"|"code"}} Span */

/**
 * @typedef {object} Block
 * @property {"heading"|"paragraph"|"list"|"table"} kind
 * @property {Span[][]} [items] of a list; of a heading and a paragraph one
 * @property {Span[][][]} [rows] of a table, its head first
 */

const TOLD = /^what it can do/i;
const SPANS = /\*\*(.+?)\*\*|`([^`]+)`|\[([^\]]+)\]\([^)]*\)|\*([^*]+)\*/gs;

/** What a card says of what its model can do; all of it where it has no such section. */
export function abilities(/** @type {string} */ markdown) {
  const sections = markdown.split(/^## /m);
  const found = sections.find((section) => TOLD.test(section));
  return blocks(found ? found.slice(found.indexOf("\n")) : markdown);
}

/** @returns {Block[]} */
export function blocks(/** @type {string} */ markdown) {
  return markdown
    .split(/\n\s*\n|\n(?=#)/)
    .filter((text) => text.trim())
    .map((text) => block(text.trim()));
}

/** @returns {Block} */
function block(text) {
  const rows = text.startsWith("|") ? tableRows(text) : [];
  if (rows.length) return { kind: "table", rows };
  if (/^[-*] /.test(text)) {
    return { kind: "list", items: text.split(/\n(?=[-*] )/).map((item) => spans(item.slice(2))) };
  }
  const [, marks, rest] = /^(#*)\s*(.*)$/s.exec(text);
  return { kind: marks ? "heading" : "paragraph", items: [spans(rest)] };
}

function tableRows(text) {
  return text
    .split("\n")
    .filter((line) => !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .replace(/^\s*\||\|\s*$/g, "")
        .split("|")
        .map((cell) => spans(cell.trim())),
    );
}

/** @returns {Span[]} */
export function spans(/** @type {string} */ text) {
  const flat = text.replace(/\s+/g, " ");
  const found = [];
  let end = 0;
  for (const match of flat.matchAll(SPANS)) {
    if (match.index > end) found.push({ text: flat.slice(end, match.index), style: "" });
    const [all, strong, code, link, em] = match;
    const style = strong ? "strong" : code ? "code" : em ? "em" : "";
    found.push({ text: strong ?? code ?? link ?? em, style });
    end = match.index + all.length;
  }
  if (end < flat.length) found.push({ text: flat.slice(end), style: "" });
  return found;
}
