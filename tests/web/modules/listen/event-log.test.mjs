import assert from "node:assert/strict";
import { test } from "node:test";

import { EventLog, summary } from "../../../../web/listen/event-log.js";

test("the newest messages are kept, and all are counted", () => {
  const log = new EventLog(2);
  for (const type of ["a", "b", "c"]) log.add({ type }, 1);
  assert.equal(log.count, 3);
  assert.equal(log.lines(), '{"type":"b"}\n{"type":"c"}\n');
  assert.deepEqual(log.events.map(({ number }) => number), [2, 3]);
});

test("a message is summed up by what it says", () => {
  const channel = { alternatives: [{ transcript: "smart mirror" }] };
  const results = (more) => summary({ type: "Results", channel, ...more });
  assert.equal(results({ is_final: false }), "partial: smart mirror");
  assert.equal(results({ is_final: true }), "final: smart mirror");
  assert.equal(results({ is_final: true, speech_final: true }), "final, end of speech: smart mirror");
  assert.equal(summary({ type: "Warning", description: "counts as less" }), "counts as less");
  assert.equal(summary({ type: "Metadata" }), "");
});
