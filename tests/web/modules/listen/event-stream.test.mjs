import assert from "node:assert/strict";
import { test } from "node:test";

import { readEvents } from "../../../../web/listen/event-stream.js";

/** The events of a body that arrives in these pieces. */
async function eventsOf(...pieces) {
  const encoder = new TextEncoder();
  const bytes = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  const events = [];
  for await (const event of readEvents(ReadableStream.from(bytes))) events.push(event);
  return events;
}

const TEXT = 'event: progress\ndata: {"done_s": 1}\n\ndata: über\ndata: zwei\n\n';
const EVENTS = [
  { event: "progress", data: '{"done_s": 1}' },
  { event: "message", data: "über\nzwei" },
];

test("events are read whole", async () => {
  assert.deepEqual(await eventsOf(TEXT), EVENTS);
});

test("events are the same however the bytes are cut", async () => {
  const bytes = new TextEncoder().encode(TEXT);
  assert.deepEqual(await eventsOf(...[...bytes].map((byte) => Uint8Array.of(byte))), EVENTS);
});

test("line ends may be CRLF, cut in the middle", async () => {
  const pieces = [...TEXT.replaceAll("\n", "\r\n")];
  assert.deepEqual(await eventsOf(...pieces), EVENTS);
});

test("comments and unknown fields are passed over", async () => {
  assert.deepEqual(await eventsOf(": ping\nid: 7\ndata: x\n\n"), [{ event: "message", data: "x" }]);
});

test("an event cut off by the end of the stream is not an event", async () => {
  assert.deepEqual(await eventsOf("data: x\n\ndata: y"), [{ event: "message", data: "x" }]);
});
