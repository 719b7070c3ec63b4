// Deepgram's SDK for JavaScript: live, a file, and what each refuses.
import { readFileSync } from "node:fs";
import { address, client, file, Seen, spoken, UNKNOWN } from "./seen.mjs";

const { DeepgramClient, DeepgramError } = client("@deepgram/sdk");
const http = `http://${address}`, ws = `ws://${address}`;
const environment = { base: http, production: ws, agent: ws, agentRest: http };
const deepgram = new DeepgramClient({ apiKey: "any", environment });
const seen = new Seen();

async function hearLive() {
  const audio = { encoding: "linear16", sample_rate: "16000" };
  const wanted = { model: "nova-3", interim_results: "true", ...audio };
  const connection = await deepgram.listen.v1.connect(wanted);
  const ended = new Promise((resolve) => {
    connection.on("message", (message) => {
      if (message.type === "Metadata") resolve();
      if (message.type !== "Results") return;
      seen.hear(message.channel.alternatives[0].transcript, message.is_final);
    });
  });
  connection.connect();
  await connection.waitForOpen();
  for await (const piece of spoken()) connection.sendMedia(piece);
  connection.sendCloseStream({ type: "CloseStream" });
  await ended;
  connection.close();
}

async function refusedLive() {
  const connection = await deepgram.listen.v1.connect({ model: UNKNOWN, reconnectAttempts: 0 });
  connection.on("error", (error) => seen.fail(error.constructor.name, error.message));
  connection.connect();
  await connection.waitForOpen().catch(() => undefined);
  connection.close();
}

async function refusedFile() {
  try {
    await deepgram.listen.v1.media.transcribeFile(Buffer.from("garbage"), { model: "nova-3" });
  } catch (error) {
    if (!(error instanceof DeepgramError)) throw error;
    seen.fail(`${error.constructor.name} ${error.statusCode}`, JSON.stringify(error.body));
  }
}

await hearLive();
const { media } = deepgram.listen.v1;
const answer = await media.transcribeFile(readFileSync(file), { model: "nova-3" });
seen.files.push(answer.results.channels[0].alternatives[0].transcript);
await refusedLive();
await refusedFile();
seen.show();
