/**
 * What can go wrong, in words that say what to do next. One table; nothing else on the page words
 * an error.
 */

/** @typedef {import("../listen/listen-client.js").Ending} Ending */
/** @typedef {{key: string, title: string, advice: string}} Problem */
/** @typedef {{reachable: boolean, ready: boolean, full: boolean}} ServerCondition */

/** @type {Record<string, [title: string, advice: string]>} */
const PROBLEMS = {
  "insecure-page": [
    "The browser keeps sound from this page",
    "It allows recording only over https or from the same machine. " +
      "Open the page as https://… or as http://localhost. Files work here too.",
  ],
  "unsupported-browser": [
    "This browser cannot record sound for a page",
    "Use a current Firefox, Chrome, Edge or Safari. Files work here too.",
  ],
  "permission-denied": [
    "The microphone is not allowed",
    "Allow it for this page (the icon beside the address), then start again.",
  ],
  "no-microphone": [
    "No microphone found",
    "Connect one and start again, or play one of the recordings.",
  ],
  "microphone-gone": [
    "The chosen microphone is not there",
    "Connect it, or choose another one in the options, then start again.",
  ],
  "microphone-busy": [
    "The microphone cannot be opened",
    "Another program may be using it. Close that program, then start again.",
  ],
  "sound-failed": [
    "The browser could not open the sound",
    "Reload the page. If that does not help, its console says more.",
  ],
  "microphone-lost": [
    "The microphone went away",
    "It was unplugged or switched off. What you said until then is kept.",
  ],
  "clip-unreadable": [
    "The recording cannot be played",
    "It did not load, or this browser does not decode Ogg Opus. Other browsers do.",
  ],
  "server-unreachable": [
    "The server does not answer",
    "It may be stopped or restarting, or the network is down. What was recognised is kept.",
  ],
  "server-full": [
    "All places are taken",
    "The server carries as many streams as it may. Try again in a moment.",
  ],
  "server-not-ready": [
    "The server is not taking new streams",
    "It is starting or about to stop. Try again in a moment.",
  ],
  "handshake-refused": [
    "The server refused the stream",
    "It is up and has room, yet it said no. It may not take a boosted word or an option, " +
      "or a proxy in between may not pass WebSockets.",
  ],
  "connection-lost": ["The connection broke", "What was recognised is kept. Reconnect to go on."],
  "server-stopping": [
    "The server is going away",
    "It ended the stream in good order. Reconnect to go on with another one.",
  ],
  "audio-not-understood": [
    "The server could not read the audio",
    "That is a fault in this page or in a proxy between you and the server.",
  ],
  "message-too-big": [
    "A message was too big for the server",
    "That is a fault in this page or in a proxy between you and the server.",
  ],
  "request-refused": [
    "The server refused the stream",
    "Something that this page asked for is not offered there.",
  ],
  "results-unread": [
    "This page fell behind",
    "The browser did not read its results in time, perhaps because the page was in the background.",
  ],
  "no-audio-arrived": [
    "No audio reached the server",
    "It waits only some seconds. The browser may have paused this page: keep it in front.",
  ],
  "server-error": [
    "The server failed on this stream",
    "Other streams go on. Reconnect to start afresh; the server's log says more.",
  ],
  "server-behind": [
    "The server cannot keep up",
    "It has more to do than it can. Try again in a moment.",
  ],
  "network-too-slow": [
    "The network is slower than speech",
    "Ten seconds of sound are waiting to be sent, so the stream was stopped.",
  ],
  "no-final-answer": [
    "The last words did not come",
    "The server took too long to finish. What had arrived is kept.",
  ],
  "file-not-audio": [
    "This file could not be read as audio",
    "Most sound and video files work: wav, mp3, m4a, flac, ogg, opus, webm, mp4.",
  ],
  "file-too-big": [
    "This file is too big",
    "The server limits the size of a file. Cut it, or send a compressed format.",
  ],
  "file-failed": ["The file was not transcribed", "The server answered with an error."],
};

/** @returns {Problem} */
export function problem(key, detail = "") {
  const [title, advice] = PROBLEMS[key];
  return { key, title, advice: detail ? `${advice} The server says: ${detail}` : advice };
}

/** Problem of a `getUserMedia` that was refused. @param {DOMException} error */
export function problemOfMicrophone(error) {
  const key = {
    NotAllowedError: "permission-denied",
    SecurityError: "permission-denied",
    NotFoundError: "no-microphone",
    OverconstrainedError: "microphone-gone",
    NotReadableError: "microphone-busy",
    AbortError: "microphone-busy",
  }[error.name];
  return key ? problem(key) : null;
}

const BY_CAUSE = {
  "connect-timeout": "server-unreachable",
  "finish-timeout": "no-final-answer",
  "slow-network": "network-too-slow",
};

/** The server's close reasons begin with a code of its own, finer than the close code. */
const BY_REASON = {
  "DATA-0000": "audio-not-understood",
  "DATA-0001": "message-too-big",
  "DATA-0002": "request-refused",
  "NET-0000": "server-error",
  "NET-0001": "no-audio-arrived",
  "NET-0002": "server-behind",
  "NET-0003": "server-stopping",
  "NET-0004": "results-unread",
};

const BY_CLOSE_CODE = {
  1001: "server-stopping",
  1003: "audio-not-understood",
  1006: "connection-lost",
  1007: "audio-not-understood",
  1008: "request-refused",
  1009: "message-too-big",
  1011: "server-error",
  1012: "server-stopping",
  1013: "server-behind",
};

/**
 * Problem of a stream that ended, or null where it ended as it should.
 * @param {Ending} ending
 * @param {ServerCondition} server what the server said when asked after the ending
 */
export function problemOfEnding(ending, server) {
  if (ending.cause === "abandoned" || (ending.complete && ending.code === 1000)) return null;
  if (BY_CAUSE[ending.cause]) return problem(BY_CAUSE[ending.cause]);
  // Browsers hide the HTTP status of a refused handshake, so the server's condition tells.
  if (!ending.opened) return problem(refusal(server));
  const key =
    BY_REASON[ending.reason.split(":")[0]] ?? BY_CLOSE_CODE[ending.code] ?? "connection-lost";
  if (key === "connection-lost" && !server.reachable) return problem("server-unreachable");
  return problem(key, ending.error ?? "");
}

/** @param {ServerCondition} server */
function refusal({ reachable, ready, full }) {
  if (!reachable) return "server-unreachable";
  if (full) return "server-full";
  return ready ? "handshake-refused" : "server-not-ready";
}

const BY_ERROR_CODE = {
  UNDECODABLE_AUDIO: "file-not-audio",
  PAYLOAD_TOO_LARGE: "file-too-big",
  TOO_MANY_REQUESTS: "server-full",
  SERVICE_UNAVAILABLE: "server-not-ready",
};

/** Where the answer is a proxy's own, there is only the status. */
const BY_STATUS = {
  0: "server-unreachable",
  413: "file-too-big",
  429: "server-full",
  503: "server-not-ready",
};

/**
 * Problem of a file that the server did not transcribe.
 * @param {number} status HTTP status; 0 where no answer came
 * @param {{err_code?: string, err_msg?: string}} answer the error's body
 */
export function problemOfUpload(status, { err_code: code = "", err_msg: detail = "" } = {}) {
  return problem(BY_ERROR_CODE[code] ?? BY_STATUS[status] ?? "file-failed", detail);
}
