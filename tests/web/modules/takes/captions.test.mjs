import assert from "node:assert/strict";
import { test } from "node:test";

import { cues, plainText, subRip, webVtt } from "../../../../web/takes/captions.js";

function spoken(text, startS = 0, stepS = 0.5) {
  return text.split(" ").map((word, i) => ({
    text: word,
    startS: startS + i * stepS,
    endS: startS + i * stepS + 0.4,
    confidence: 1,
    boosted: false,
  }));
}

const texts = (split) => split.map((words) => words.map(({ text }) => text).join(" "));

test("text has one line per paragraph", () => {
  assert.equal(plainText([spoken("one two"), spoken("three", 3)]), "one two\nthree\n");
});

test("SRT numbers its cues and writes commas, hours and milliseconds", () => {
  assert.equal(
    subRip([spoken("one two"), spoken("three", 3661.2504)]),
    "1\n00:00:00,000 --> 00:00:00,900\none two\n\n2\n01:01:01,250 --> 01:01:01,650\nthree\n",
  );
});

test("VTT has its header and escapes markup", () => {
  assert.equal(
    webVtt([spoken("<b> &")]),
    "WEBVTT\n\n00:00:00.000 --> 00:00:00.900\n&lt;b&gt; &amp;\n",
  );
});

test("a cue ends at a pause", () => {
  assert.deepEqual(texts(cues([[...spoken("one two"), ...spoken("three", 2)]])), [
    "one two",
    "three",
  ]);
});

test("no cue is longer than six seconds or two lines", () => {
  const split = cues([spoken(Array(40).fill("abcdefgh").join(" "))]);
  assert.ok(split.length > 1);
  for (const words of split) {
    assert.ok(words.at(-1).endS - words[0].startS <= 6);
    assert.ok(words.map(({ text }) => text).join(" ").length <= 84);
  }
  assert.equal(split.flat().length, 40);
});

test("rounding never writes sixty seconds", () => {
  assert.match(subRip([spoken("one", 59.9996)]), /^1\n00:01:00,000 --> /);
});

test("no words, no cues", () => {
  assert.equal(subRip([]), "");
  assert.equal(webVtt([[]]), "WEBVTT\n");
});
