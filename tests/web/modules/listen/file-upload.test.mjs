import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { transcribeFile } from "../../../../web/listen/file-upload.js";
import { SourceError } from "../../../../web/problems/source-error.js";

const ASKED = { boosts: [], parameters: {} };
const SEGMENT = 'event: segment\ndata: {"text": "one"}\n\n';
const genuine = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = genuine;
});

/** An answer that says one segment, and then breaks with an error. */
function breaking(error) {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(SEGMENT));
    },
    pull(controller) {
      controller.error(error);
    },
  });
  globalThis.fetch = async () => new Response(body);
}

async function heard(signal) {
  const steps = [];
  for await (const step of transcribeFile("http://here/", new Blob(), ASKED, signal)) {
    steps.push(step);
  }
  return steps;
}

test("a server that goes away while a file is read is a problem to show", async () => {
  breaking(new TypeError("network error"));
  await assert.rejects(heard(new AbortController().signal), SourceError);
});

test("whoever stops an upload gets what he expects", async () => {
  const stop = new AbortController();
  stop.abort();
  breaking(stop.signal.reason);
  await assert.rejects(heard(stop.signal), { name: "AbortError" });
});
