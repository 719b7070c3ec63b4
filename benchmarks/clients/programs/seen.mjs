// What a program of a client is given and what it prints, as seen.py has it for Python.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";

const PIECE_MS = 100;
const HEADER_BYTES = 44;
export const UNKNOWN = "no-such-model";
export const [address, file] = process.argv.slice(2);
// The working directory is the environment, where npm has put the client.
export const client = createRequire(`${process.cwd()}/`);

export class Seen {
  partials = [];
  finals = [];
  files = [];
  errors = [];

  hear(text, isFinal) {
    if (text) (isFinal ? this.finals : this.partials).push(text);
  }

  fail(name, told) {
    this.errors.push(`${name}: ${String(told).replace(/\s+/g, " ")}`.slice(0, 400));
  }

  show() {
    console.log(JSON.stringify(this));
  }
}

// A file's samples as a microphone would give them.
export async function* spoken(rate = 16000) {
  const audio = readFileSync(file).subarray(HEADER_BYTES), size = (2 * rate * PIECE_MS) / 1000;
  for (let start = 0; start < audio.length; start += size) {
    yield audio.subarray(start, start + size);
    await pause(PIECE_MS);
  }
}
