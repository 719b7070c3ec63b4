// OpenAI's SDK for JavaScript: a file, a file with events, and what is refused.
import { createReadStream, readFileSync } from "node:fs";
import { address, client, file, Seen, UNKNOWN } from "./seen.mjs";

const { APIError, OpenAI, toFile } = client("openai");
const openai = new OpenAI({ baseURL: `http://${address}/v1`, apiKey: "any" });
const seen = new Seen();

async function hear(wanted) {
  return openai.audio.transcriptions.create({ model: "whisper-1", ...wanted });
}

async function refused(model, body) {
  try {
    await hear({ model, file: await toFile(body, "talk.wav") });
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    seen.fail(`${error.constructor.name} ${error.status}`, error.message);
  }
}

seen.files.push((await hear({ file: createReadStream(file) })).text);
const wanted = { model: "gpt-4o-transcribe", stream: true };
const events = await hear({ ...wanted, file: createReadStream(file) });
for await (const event of events) {
  if (event.type === "transcript.text.delta") seen.hear(event.delta, false);
  if (event.type === "transcript.text.done") seen.hear(event.text, true);
}
await refused(UNKNOWN, readFileSync(file));
await refused("whisper-1", Buffer.from("garbage"));
seen.show();
