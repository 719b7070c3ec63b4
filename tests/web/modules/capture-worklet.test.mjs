import assert from "node:assert/strict";
import { test } from "node:test";

let loads = 0;

/** The processor, as the audio thread would make it, and what it posted. */
async function processor(sampleRate) {
  const posted = [];
  globalThis.sampleRate = sampleRate;
  globalThis.AudioWorkletProcessor = class {
    port = { postMessage: (message) => posted.push(message) };
  };
  let Processor;
  globalThis.registerProcessor = (_, registered) => {
    Processor = registered;
  };
  await import(`../../../web/capture-worklet.js?load=${loads++}`);
  return { node: new Processor(), posted };
}

const ramp = (length, value) => new Float32Array(length).fill(value);
const samplesOf = (posted) =>
  posted
    .filter((message) => message.samples)
    .flatMap(({ samples }) => [...new Int16Array(samples)]);

test("sound leaves in pieces of 50 ms with their peak", async () => {
  const { node, posted } = await processor(16000);
  for (let i = 0; i < 13; i++) node.process([[ramp(128, -0.5)]]);
  assert.equal(posted.length, 2);
  assert.equal(posted[0].samples.byteLength, 2 * 800);
  assert.equal(posted[0].peak, 0.5);
});

test("what is left leaves when asked, and nothing is lost", async () => {
  const { node, posted } = await processor(48000);
  for (let i = 0; i < 50; i++) node.process([[ramp(128, 0.25)]]);
  node.port.onmessage({ data: "flush" });
  assert.equal(samplesOf(posted).length, 50 * 128);
  assert.equal(posted.at(-1), "flushed");
  assert.equal(node.process([[]]), false);
});

test("channels are mixed, loud sound is clipped and not wrapped", async () => {
  const { node, posted } = await processor(8000);
  node.process([[ramp(128, 1), ramp(128, 0)]]);
  node.process([[ramp(128, 7)]]);
  node.process([[ramp(128, -7)]]);
  node.process([[ramp(16, 0)]]);
  assert.deepEqual(samplesOf(posted).slice(127, 129), [16384, 32767]);
  assert.equal(samplesOf(posted)[256], -32768);
});

test("a source without channels is silence that is not sent", async () => {
  const { node, posted } = await processor(16000);
  assert.equal(node.process([[]]), true);
  node.port.onmessage({ data: "flush" });
  assert.deepEqual(posted, ["flushed"]);
});

test("what was 16 bits before it was decoded is the same 16 bits again", async () => {
  const { node, posted } = await processor(16000);
  const levels = [-32768, -32767, -12345, -1, 0, 1, 23456, 32767];
  node.process([[Float32Array.from(levels, (level) => level / 32768)]]);
  node.port.onmessage({ data: "flush" });
  assert.deepEqual(samplesOf(posted), levels);
});
