import assert from "node:assert/strict";
import { test } from "node:test";

import { KeptTakes, MOST_CHARACTERS } from "../../../../web/takes/kept-takes.js";

class Storage {
  constructor(room = Infinity) {
    this.room = room;
    this.items = new Map();
  }
  getItem(name) {
    return this.items.get(name) ?? null;
  }
  setItem(name, text) {
    if (text.length > this.room) throw new Error("QuotaExceededError");
    this.items.set(name, text);
  }
  removeItem(name) {
    this.items.delete(name);
  }
}

const word = (text, boosted = false) => ({
  text,
  startS: 0.25,
  endS: 0.5,
  confidence: 0.9,
  boosted,
});
const take = (name, paragraphs, notes = []) => ({ name, at: 1000, paragraphs, notes });
const texts = (kept) => kept.paragraphs.map((words) => words.map(({ text }) => text).join(" "));

test("takes come back as they were", () => {
  const storage = new Storage();
  const takes = [
    take("Microphone", [[word("smart"), word("mirror", true)], [word("on")]], ["Spoken: …"]),
    take("talk.wav", []),
  ];
  new KeptTakes(storage).write(takes);
  assert.deepEqual(new KeptTakes(storage).read(), takes);
});

test("what is stored is bounded: the oldest words go first, and it is said", () => {
  const storage = new Storage();
  const long = Array.from({ length: 40_000 }, (_, i) => [word(`w${i}`)]);
  new KeptTakes(storage).write([take("old", [[word("gone")]]), take("new", long)]);
  const [kept, ...others] = new KeptTakes(storage).read();
  assert.deepEqual(others, []);
  assert.equal(kept.name, "new");
  assert.equal(texts(kept).at(-1), "w39999");
  assert.deepEqual(kept.notes, ["What came before was too much to be kept."]);
  const [stored] = storage.items.values();
  assert.ok(stored.length <= MOST_CHARACTERS);
  assert.ok(stored.length > MOST_CHARACTERS * 0.9);
});

test("a browser with less room keeps less", () => {
  const storage = new Storage(20_000);
  const long = Array.from({ length: 2_000 }, (_, i) => [word(`w${i}`)]);
  new KeptTakes(storage).write([take("new", long)]);
  assert.equal(texts(new KeptTakes(storage).read()[0]).at(-1), "w1999");
});

test("nothing is kept where the browser keeps nothing", () => {
  const kept = new KeptTakes(null);
  kept.write([take("new", [[word("smart")]])]);
  kept.clear();
  assert.equal(kept.works, false);
  assert.deepEqual(kept.read(), []);
});

test("what is stored and not ours is left alone", () => {
  for (const text of ["{}", "[1]", "null", "nonsense", '[{"name":"a"}]']) {
    const storage = new Storage();
    storage.setItem("earshot.takes", text);
    assert.deepEqual(new KeptTakes(storage).read(), []);
  }
});

test("clearing leaves nothing", () => {
  const storage = new Storage();
  const kept = new KeptTakes(storage);
  kept.write([take("new", [[word("smart")]])]);
  kept.clear();
  assert.equal(storage.items.size, 0);
});
