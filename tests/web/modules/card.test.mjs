import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { abilities, blocks, spans } from "../../../web/model/card.js";

const textOf = (found) => found.map(({ text }) => text).join("");

test("spans tell bold, emphasis and code, and links are their text", () => {
  assert.deepEqual(spans("is **0.0 ± 0.0** in `mode=x`, *seven*, [how](../a.md)"), [
    { text: "is ", style: "" },
    { text: "0.0 ± 0.0", style: "strong" },
    { text: " in ", style: "" },
    { text: "mode=x", style: "code" },
    { text: ", ", style: "" },
    { text: "seven", style: "em" },
    { text: ", ", style: "" },
    { text: "how", style: "" },
  ]);
});

test("a table has rows of cells and no line of dashes", () => {
  const [{ kind, rows }] = blocks("| | a |\n|---|---|\n| books | **8.2** |\n| talks | - |");
  assert.equal(kind, "table");
  assert.deepEqual(rows.map((cells) => cells.map(textOf)), [
    ["", "a"],
    ["books", "8.2"],
    ["talks", "-"],
  ]);
});

test("a list goes on over its lines", () => {
  const [list, paragraph] = blocks("- one\n  goes on\n- two\n\nthe end");
  assert.deepEqual(list.items.map(textOf), ["one goes on", "two"]);
  assert.equal(paragraph.kind, "paragraph");
});

test("of a card what the model can do is told, or else all", () => {
  const card = "# M\n\nwhat it is\n\n## What it can do\n\nmuch\n\n## Method\n\nlong";
  assert.deepEqual(abilities(card).map(({ items }) => textOf(items[0])), ["much"]);
  assert.deepEqual(abilities("# M\n\nshort").map(({ kind }) => kind), ["heading", "paragraph"]);
});

test("the error rates of the bundled model's card are all there", () => {
  const card = readFileSync(new URL("../../../models/bundled/CARD.md", import.meta.url), "utf8");
  const [rates] = abilities(card).filter(({ kind }) => kind === "table");
  assert.equal(rates.rows.length, 6);
  for (const cells of rates.rows.slice(1)) assert.match(textOf(cells[1]), /^\d+\.\d ± \d+\.\d$/);
});

test("a table of dashes alone is none", () => {
  assert.deepEqual(
    blocks("|---|\n|:--|").map(({ kind }) => kind),
    ["paragraph"],
  );
});
