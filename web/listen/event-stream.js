/**
 * Server-sent events read from the body of a `fetch`. (EventSource cannot POST.)
 */

/** @typedef {{event: string, data: string}} ServerEvent */

/**
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      // A "\r" at the end of a piece may be half of a line end: it waits for the next piece.
      const text = pending + value;
      const held = text.endsWith("\r") ? "\r" : "";
      const blocks = text
        .slice(0, text.length - held.length)
        .replace(/\r\n?/g, "\n")
        .split("\n\n");
      pending = blocks.pop() + held;
      for (const block of blocks) if (block.trim()) yield parseEvent(block);
    }
  } finally {
    reader.cancel().catch(() => {}); // the consumer left early, or the connection is gone already
  }
}

/** @param {string} block lines of one event @returns {ServerEvent} */
export function parseEvent(block) {
  const fields = { event: "message", data: [] };
  for (const line of block.split("\n")) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (name === "event") fields.event = value;
    if (name === "data") fields.data.push(value);
  }
  return { event: fields.event, data: fields.data.join("\n") };
}
