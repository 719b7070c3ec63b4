import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeStorage } from "./fake-storage.mjs";
import { Boosts, keyword, parseBoost } from "../../../web/boosts/boosts.js";

test("a phrase may carry its weight", () => {
  assert.deepEqual(parseBoost(" smart  mirror:4.5 "), { phrase: "smart mirror", weight: 4.5 });
  assert.deepEqual(parseBoost("jarvis"), { phrase: "jarvis", weight: null });
});

test("a weight that nobody has chosen is not sent, and is kept as none", () => {
  const storage = fakeStorage();
  new Boosts(storage).add("jarvis, alexa:4");
  const boosts = new Boosts(fakeStorage(storage.stored));
  boosts.limit({ phrases: 9, phraseCharacters: 99, characters: 99, weight: 3 });
  assert.deepEqual(boosts.list.map(keyword), ["jarvis", "alexa:3"]);
});

test("a weight stays in its range", () => {
  const boosts = new Boosts(null);
  boosts.add("a:99, b:0");
  assert.deepEqual(boosts.list.map(({ weight }) => weight), [10, 0.5]);
});

test("no weight is more than what the server says that counts", () => {
  const storage = fakeStorage('[{"phrase": "a", "weight": 9}, {"phrase": "b", "weight": 2}]');
  const boosts = new Boosts(storage);
  boosts.limit({ phrases: 9, phraseCharacters: 99, characters: 99, weight: 6 });
  assert.equal(boosts.mostWeight, 6);
  boosts.add("c:7");
  boosts.setWeight("b", 8);
  assert.deepEqual(boosts.list.map(({ weight }) => weight), [6, 6, 6]);
});

test("a server that names no largest weight leaves the page's own", () => {
  const boosts = new Boosts(null);
  boosts.limit({ phrases: 9, phraseCharacters: 99, characters: 99 });
  assert.equal(boosts.mostWeight, 10);
});

test("a phrase holds no colon, because the protocol ends it there", () => {
  assert.deepEqual(parseBoost("a:b:2"), { phrase: "a b", weight: 2 });
  assert.equal(parseBoost(" : "), null);
});

test("what is typed between commas is several phrases", () => {
  const boosts = new Boosts(null);
  boosts.add("jarvis, smart mirror:5,, ");
  assert.deepEqual(boosts.list, [
    { phrase: "jarvis", weight: null },
    { phrase: "smart mirror", weight: 5 },
  ]);
});

test("a phrase typed again, in any case, changes its weight", () => {
  const boosts = new Boosts(null);
  boosts.add("Jarvis");
  boosts.add("jarvis:7");
  assert.deepEqual(boosts.list, [{ phrase: "Jarvis", weight: 7 }]);
});

test("phrases are weighed and removed by name", () => {
  const boosts = new Boosts(null);
  boosts.add("a,b");
  boosts.setWeight("a", 8);
  boosts.remove("b");
  assert.deepEqual(boosts.list, [{ phrase: "a", weight: 8 }]);
});

test("as many phrases fit as the server takes", () => {
  const phrases = (count) => Array.from({ length: count }, (_, i) => `p${i}`).join(",");
  const usual = new Boosts(null);
  assert.equal(usual.add(phrases(1000)).leftOut.length, 0);
  assert.deepEqual(usual.add("one more").leftOut, [{ phrase: "one more", weight: null }]);
  assert.equal(usual.list.length, 1000);

  const small = new Boosts(null);
  small.limits = { phrases: 3, phraseCharacters: 5, characters: 8 };
  const { added, leftOut } = small.add("longer, 🙂🙂🙂🙂🙂, abc, d, e");
  assert.deepEqual(added.map(({ phrase }) => phrase), ["🙂🙂🙂🙂🙂", "abc"]);
  assert.deepEqual(leftOut.map(({ phrase }) => phrase), ["longer", "d", "e"]);
  assert.deepEqual(small.add("ABC:9").added, [{ phrase: "ABC", weight: 9 }], "is there already");
});

test("boosts are there again on the next visit", () => {
  const storage = fakeStorage();
  new Boosts(storage).add("jarvis:6");
  assert.deepEqual(new Boosts(storage).list, [{ phrase: "jarvis", weight: 6 }]);
});

test("what cannot be read from storage is dropped", () => {
  assert.deepEqual(new Boosts(fakeStorage("{")).list, []);
  assert.deepEqual(new Boosts(fakeStorage('[{"phrase": 3}, {"phrase": "a", "weight": 1}]')).list, [
    { phrase: "a", weight: 1 },
  ]);
});
