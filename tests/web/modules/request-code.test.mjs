import assert from "node:assert/strict";
import { test } from "node:test";

import { codeOf } from "../../../web/code/request-code.js";

const LIVE =
  "wss://here/v1/listen?encoding=linear16&sample_rate=16000&channels=1&interim_results=true" +
  "&warnings=true&punctuate=true&keywords=smart+mirror%3A4";

const byLabel = (request) =>
  Object.fromEntries(codeOf(request).map(({ label, code }) => [label, code]));

test("a live request is made again with all that it asked for", () => {
  assert.ok(byLabel({ live: true, url: LIVE }).Python.includes(`url = "${LIVE}"`));
});

test("a recorder sends no samples, and a file has no partials", () => {
  const { JavaScript, curl } = byLabel({ live: true, url: LIVE });
  assert.match(JavaScript, /"wss:\/\/here\/v1\/listen\?interim_results=true&warnings=true&punct/);
  assert.match(curl, /'https:\/\/here\/v1\/listen\?punctuate=true&keywords=smart\+mirror%3A4'/);
});

test("a file's name is quoted for the shell and for Python", () => {
  const { curl, Python } = byLabel({ live: false, url: "http://here/v1/listen", file: `it's "a".wav` });
  assert.ok(curl.includes(`'@it'\\''s "a".wav'`));
  assert.ok(Python.includes(String.raw`Path("it's \"a\".wav")`));
});

test("the scripts can be read as such", async () => {
  for (const request of [{ live: true, url: LIVE }, { live: false, url: "http://here/v1/listen" }]) {
    const AsyncFunction = (async () => {}).constructor;
    new AsyncFunction("file", byLabel(request).JavaScript);
  }
});
