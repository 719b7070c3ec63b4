// OpenAI's SDK for JavaScript, realtime: a session of transcription, and what it refuses.
import { setTimeout as pause } from "node:timers/promises";
import { address, client, Seen, spoken } from "./seen.mjs";

const { OpenAI } = client("openai");
const { OpenAIRealtimeWS } = client("openai/realtime/ws");
// The address has TLS: the SDK makes wss:// of whatever it is told.
const openai = new OpenAI({ baseURL: `https://${address}/v1`, apiKey: "any" });
const TOLD = "conversation.item.input_audio_transcription";
const RATE_HZ = 16000;
const seen = new Seen();

function sessionOf(format) {
  const transcription = { model: "gpt-4o-transcribe" };
  const input = { format, transcription, turn_detection: null };
  return { type: "session.update", session: { type: "transcription", audio: { input } } };
}

async function connected() {
  const realtime = await OpenAIRealtimeWS.create(openai, { intent: "transcription" });
  await new Promise((resolve) => realtime.on("session.created", resolve));
  return realtime;
}

async function hearLive() {
  const realtime = await connected();
  const ended = new Promise((resolve, reject) => {
    realtime.on("error", reject);
    realtime.on(`${TOLD}.delta`, ({ delta }) => seen.hear(delta, false));
    realtime.on(`${TOLD}.completed`, ({ transcript }) => resolve(seen.hear(transcript, true)));
  });
  realtime.send(sessionOf({ type: "audio/pcm", rate: RATE_HZ }));
  for await (const piece of spoken(RATE_HZ)) {
    realtime.send({ type: "input_audio_buffer.append", audio: piece.toString("base64") });
  }
  realtime.send({ type: "input_audio_buffer.commit" });
  await ended;
  realtime.close();
}

async function refused() {
  const realtime = await connected();
  realtime.on("error", (error) => seen.fail(error.constructor.name, error.message));
  realtime.send(sessionOf({ type: "audio/opus" }));
  realtime.send({ type: "input_audio_buffer.append", audio: "%%%" });
  while (seen.errors.length < 2) await pause(10);
  realtime.close();
}

await hearLive();
await refused();
seen.show();
