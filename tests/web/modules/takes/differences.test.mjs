import assert from "node:assert/strict";
import { test } from "node:test";

import { differences } from "../../../../web/takes/differences.js";

const marked = (left, right) =>
  differences(left.split(" "), right.split(" ")).map((side) =>
    side.map(({ text, differs }) => (differs ? `[${text}]` : text)).join(" "),
  );

test("words that only one text has are marked", () => {
  assert.deepEqual(marked("call mr carney now", "call mr Kearny right now"), [
    "call mr [carney] now",
    "call mr [Kearny] [right] now",
  ]);
});

test("capitals and marks make no difference", () => {
  assert.deepEqual(marked("milk, please.", "Milk please"), ["milk, please.", "Milk please"]);
});

test("texts too long to be compared are not marked", () => {
  const long = Array(3000).fill("a");
  const [left] = differences(long, Array(3000).fill("b"));
  assert.equal(left.some(({ differs }) => differs), false);
});
