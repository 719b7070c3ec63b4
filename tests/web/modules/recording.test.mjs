import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_S, Recording } from "../../../web/capture/recording.js";

const piece = (values, rate = 16_000) => ({
  samples: new Int16Array(values).buffer,
  seconds: values.length / rate,
  peak: 0,
});

test("a recording is a wav of the samples that were sent, at their rate", async () => {
  const recording = new Recording();
  recording.add(piece([1, -2, 3]));
  recording.add(piece([4]));
  const bytes = await recording.wav().arrayBuffer();
  const view = new DataView(bytes);
  const text = String.fromCharCode(...new Uint8Array(bytes, 0, 12));
  assert.equal(text.slice(0, 4) + text.slice(8), "RIFFWAVE");
  assert.equal(view.getUint32(24, true), 16_000);
  assert.equal(view.getUint32(40, true), 8);
  assert.deepEqual([...new Int16Array(bytes.slice(44))], [1, -2, 3, 4]);
});

test("nothing heard is no recording", () => {
  assert.equal(new Recording().wav(), null);
});

test("no more than ten minutes are kept", () => {
  const recording = new Recording();
  for (let i = 0; i < 3; i++) recording.add({ ...piece([7]), seconds: MOST_S / 2 });
  assert.equal(recording.wav().size, 44 + 2 * 2);
});
