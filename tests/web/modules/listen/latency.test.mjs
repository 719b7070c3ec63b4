import assert from "node:assert/strict";
import { test } from "node:test";

import { lateMs, RunningMedian, SentClock } from "../../../../web/listen/latency.js";

function tenSeconds() {
  const clock = new SentClock();
  for (let i = 1; i <= 10; i++) clock.record(1, i * 1000);
  return clock;
}

test("latency counts from the moment the last audio of the result was sent", () => {
  assert.equal(tenSeconds().latencyMs(3.5, 4200), 200); // 3.5 s lies in the chunk sent at 4000 ms
});

test("a result may end a hair after what was sent", () => {
  assert.equal(tenSeconds().latencyMs(10.001, 10_300), 300);
});

test("nothing is claimed before audio was sent or after it was forgotten", () => {
  assert.equal(new SentClock().latencyMs(0, 100), null);
  const clock = new SentClock();
  for (let i = 1; i <= 100; i++) clock.record(1, i * 1000);
  assert.equal(clock.latencyMs(5, 101_000), null);
  assert.ok(clock.chunks.length <= 61);
});

function results(isFinal, ...wordEnds) {
  const words = wordEnds.map((end) => ({ word: "w", start: end - 0.5, end }));
  const channel = { alternatives: [{ words }] };
  return { is_final: isFinal, start: 0, duration: 3.5, channel };
}

test("a final is late since its last word, with the pause that it reaches into", () => {
  assert.equal(lateMs(results(true, 1, 1.5), tenSeconds(), 4200), 2200);
});

test("a partial is late since the last audio that it covers", () => {
  assert.equal(lateMs(results(false, 1, 1.5), tenSeconds(), 4200), 200);
});

test("for a final without words nobody has waited", () => {
  assert.equal(lateMs(results(true), tenSeconds(), 4200), null);
  const empty = { ...results(true), channel: { alternatives: [] } };
  assert.equal(lateMs(empty, tenSeconds(), 4200), null);
});

test("the median is of the last values only", () => {
  const median = new RunningMedian(3);
  assert.equal(median.get(), null);
  [1000, 1, 2, 3].forEach((value) => median.add(value));
  assert.equal(median.get(), 2);
});
