/**
 * A file goes up; progress and text come down as it is read. One generator; the page shows it.
 */

import { keyword } from "../boosts/boosts.js";
import { readEvents } from "./event-stream.js";
import { problemOfUpload } from "../problems/problems.js";
import { SourceError } from "../problems/source-error.js";

/** @typedef {import("./listen-client.js").Boost} Boost */
/** @typedef {{boosts: Boost[], parameters: Record<string, string>}} Asked */
/** @typedef {{doneS: number, totalS: number|null}} Progress */

/**
 * @param {string} base address of the page
 * @param {Blob} file
 * @param {Asked} asked
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{progress?: Progress, segment?: object, warnings?: string[]}>} a segment
 *   is a Results message; the generator ends when the file does
 * @throws {SourceError} with the problem to show
 */
export async function* transcribeFile(base, file, asked, signal) {
  const response = await post(base, file, asked, signal);
  for await (const { event, data } of eventsOf(response.body, signal)) {
    const message = JSON.parse(data);
    if (event === "progress")
      yield { progress: { doneS: message.done_s, totalS: message.total_s ?? null } };
    if (event === "segment") yield { segment: message };
    if (event === "result") {
      const warnings = message.metadata.warnings ?? [];
      return yield { warnings: warnings.map((warning) => warning.message) };
    }
    if (event === "error") throw new SourceError(problemOfUpload(500, message));
  }
  throw new SourceError(problemOfUpload(0)); // the connection broke before the result
}

/** Address of a file's request. @param {string} base @param {Asked} asked */
export function fileUrl(base, { boosts, parameters }) {
  const url = new URL("v1/listen", base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  for (const boost of boosts) url.searchParams.append("keywords", keyword(boost));
  return url.href;
}

async function* eventsOf(body, signal) {
  try {
    yield* readEvents(body);
  } catch (error) {
    throw brokenOff(error, signal);
  }
}

/** What to throw where a connection breaks; whoever has stopped the upload gets what he expects. */
function brokenOff(error, signal) {
  return signal.aborted ? error : new SourceError(problemOfUpload(0), { cause: error });
}

async function post(base, file, asked, signal) {
  const headers = {
    Accept: "text/event-stream",
    "Content-Type": file.type || "application/octet-stream",
  };
  let response;
  try {
    response = await fetch(fileUrl(base, asked), { method: "POST", body: file, headers, signal });
  } catch (error) {
    throw brokenOff(error, signal);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({})); // a proxy answers in HTML
  throw new SourceError(problemOfUpload(response.status, answer));
}
