import assert from "node:assert/strict";
import { test } from "node:test";

import { loudness } from "../../../web/controls/level-meter.js";

test("loudness runs from silence to full scale on a decibel scale", () => {
  assert.equal(loudness(0), 0);
  assert.equal(loudness(1), 1);
  assert.equal(loudness(10 ** (-27 / 20)), 0.5);
});

test("what is too quiet to see is zero, what is too loud is one", () => {
  assert.equal(loudness(1e-5), 0);
  assert.equal(loudness(2), 1);
});
