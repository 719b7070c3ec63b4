import assert from "node:assert/strict";
import { test } from "node:test";

import { Transcript } from "../../../../web/takes/transcript.js";

function results(text, { start = 0, final = false, speechFinal = final, stable } = {}) {
  const words = text
    .split(" ")
    .filter(Boolean)
    .map((word, i) => ({ word, start: start + i, end: start + i + 0.5, confidence: 0.9 }));
  return {
    start,
    duration: words.length,
    is_final: final,
    speech_final: speechFinal,
    stable_words: stable,
    channel: { alternatives: [{ transcript: text, confidence: 0.9, words }] },
  };
}

test("a partial replaces the partial before it", () => {
  const transcript = new Transcript();
  transcript.apply(results("the smart", { stable: 1 }));
  transcript.apply(results("the smart mirror", { stable: 2 }));
  assert.equal(transcript.text(), "");
  assert.deepEqual(
    transcript.partial.words.map(({ text }) => text),
    ["the", "smart", "mirror"],
  );
  assert.equal(transcript.partial.stableWords, 2);
});

test("a final takes the partial's place and never changes again", () => {
  const transcript = new Transcript();
  transcript.apply(results("the smart"));
  transcript.apply(results("the smart mirror", { final: true }));
  transcript.apply(results("on", { start: 3 }));
  assert.equal(transcript.text(), "the smart mirror");
  assert.equal(transcript.partial.words.length, 1);
});

test("a pause ends the paragraph, the cut of a long utterance does not", () => {
  const transcript = new Transcript();
  transcript.apply(results("one two", { final: true, speechFinal: false }));
  transcript.apply(results("three", { start: 2, final: true }));
  transcript.apply(results("four", { start: 3, final: true }));
  assert.equal(transcript.text(), "one two three\nfour");
});

test("an empty final ends the paragraph and adds none", () => {
  const transcript = new Transcript();
  transcript.apply(results("one", { final: true, speechFinal: false }));
  transcript.apply(results("", { start: 1, final: true }));
  transcript.apply(results("two", { start: 2, final: true }));
  assert.equal(transcript.text(), "one\ntwo");
});

test("times and confidences are kept, boosted words marked", () => {
  const transcript = new Transcript();
  const message = results("jarvis", { start: 2, final: true });
  message.channel.alternatives[0].words[0].boosted = true;
  message.channel.alternatives[0].words[0].punctuated_word = "Jarvis,";
  transcript.apply(message);
  assert.deepEqual(transcript.words(), [
    { text: "Jarvis,", startS: 2, endS: 2.5, confidence: 0.9, boosted: true },
  ]);
});

test("text without words is spread over the result's time", () => {
  const transcript = new Transcript();
  const message = results("one two", { final: true });
  delete message.channel.alternatives[0].words;
  transcript.apply(message);
  assert.deepEqual(
    transcript.words().map(({ text, startS, endS }) => [text, startS, endS]),
    [
      ["one", 0, 1],
      ["two", 1, 2],
    ],
  );
});

test("more stable words than words are as many as there are", () => {
  const transcript = new Transcript();
  transcript.apply(results("one", { stable: 5 }));
  assert.equal(transcript.partial.stableWords, 1);
});

test("how far the server has come only grows", () => {
  const transcript = new Transcript();
  transcript.apply(results("one two three"));
  assert.equal(transcript.heardS, 3);
  transcript.apply(results("one two", { final: true }));
  assert.equal(transcript.heardS, 3);
  assert.equal(transcript.finalS, 2);
});

test("words that were never settled stay when the stream breaks", () => {
  const transcript = new Transcript();
  transcript.apply(results("one", { final: true }));
  transcript.apply(results("two", { start: 1 }));
  assert.equal(transcript.close(), true);
  assert.equal(transcript.text(), "one\ntwo");
  assert.equal(transcript.close(), false);
});
