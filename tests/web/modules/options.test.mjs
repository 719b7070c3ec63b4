import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeStorage } from "./fake-storage.mjs";
import { Options } from "../../../web/options/options.js";

test("what nobody has chosen is not asked for, but capitals and marks are", () => {
  assert.deepEqual(new Options(null).parameters(), { punctuate: "true" });
});

test("what is chosen is asked for in the protocol's names", () => {
  const options = new Options(null);
  options.choose("punctuate", false);
  options.choose("smartFormat", true);
  options.choose("lm", "law");
  options.choose("endpointing", 400);
  options.choose("eotThreshold", 0.6);
  options.choose("eotTimeoutMs", 900);
  options.choose("microphone", "abc");
  assert.deepEqual(options.parameters(), {
    smart_format: "true",
    lm: "law",
    endpointing: "400",
    eot_threshold: "0.6",
    eot_timeout_ms: "900",
  });
  assert.equal(options.count, 7);
});

test("what is chosen outlives a visit", () => {
  const storage = fakeStorage();
  new Options(storage).choose("eotThreshold", 0.6);
  assert.equal(new Options(fakeStorage(storage.stored)).chosen.eotThreshold, 0.6);
});

test("what another version of the page stored is kept as far as it fits", () => {
  const stored = '{"lm": 3, "endpointing": "long", "smartFormat": true, "colour": "red"}';
  assert.deepEqual(new Options(fakeStorage(stored)).parameters(), {
    punctuate: "true",
    smart_format: "true",
  });
  assert.equal(new Options(fakeStorage("no JSON")).count, 0);
});

test("a language model that the server no longer has is forgotten", () => {
  const options = new Options(null);
  options.choose("lm", "law");
  options.haveModels(["", "law", "off"]);
  assert.equal(options.chosen.lm, "law");
  options.haveModels(["", "off"]);
  assert.equal(options.chosen.lm, "");
});
