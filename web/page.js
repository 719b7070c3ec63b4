/**
 * Puts the parts together: one take at a time, from a microphone, a clip or a file.
 */

import { awakeUntil } from "./awake.js";
import { BoostEditor } from "./boost-editor.js";
import { Boosts } from "./boosts.js";
import { Clip } from "./clip.js";
import { byId } from "./elements.js";
import { acceptFiles } from "./file-drop.js";
import { transcribeFile } from "./file-upload.js";
import { LevelMeter } from "./level-meter.js";
import { Microphone } from "./microphone.js";
import { listSamples } from "./samples.js";
import { Server } from "./server.js";
import { Session } from "./session.js";
import { SourceError } from "./source-error.js";
import { Notice, Status } from "./status.js";
import { TakeView } from "./take-view.js";
import { Transcript } from "./transcript.js";

const BROKEN = new Set([
  "connection-lost",
  "server-stopping",
  "server-error",
  "server-unreachable",
]);
const MUTE_REMARK = "Nothing but silence: is the microphone muted?";

const server = new Server(document.baseURI);
const meter = new LevelMeter(byId("ribbon"), byId("level"));
const notice = new Notice(byId("notice"));
const status = new Status({
  button: byId("listen"),
  label: byId("listen-label"),
  state: byId("state"),
  finalize: byId("finalize"),
  words: byId("latency-words"),
  finals: byId("latency-finals"),
  sent: byId("sent"),
});
const boosts = new Boosts(storage());
const boostEditor = new BoostEditor(
  {
    form: byId("boost-form"),
    input: byId("boost-input"),
    list: byId("boost-list"),
    state: byId("boost-state"),
  },
  boosts,
  (list) => configure(list),
);

/** @type {Session|null} the take that is under way */
let session = null;
/** The source asked for last: whoever clicks twice wants the second. */
let wanted = null;
/** Files go one after the other. */
let uploads = Promise.resolve();

byId("listen").addEventListener("click", () => (session ? session.stop() : take(new Microphone())));
byId("finalize").addEventListener("click", () => session?.finalize());
addEventListener("keydown", (event) => {
  if (event.key === "Escape") session?.stop();
});
acceptFiles(byId("file"), byId("curtain"), (file) => {
  uploads = uploads.then(() => transcribe(file));
});
showServer();

/** Run a source through a stream, and show it. */
async function take(source) {
  wanted = source;
  await session?.stop();
  await session?.over;
  if (wanted !== source) return;
  notice.clear();
  const { view, taken } = newTake(source);
  session = taken;
  show(view);
  meter.start(taken.transcript);
  await Promise.all([taken.start(boosts.list), awakeUntil(taken.over)]);
}

function newTake(source) {
  const taken = new Session({
    source,
    server,
    handlers: {
      onState: (state) => status.show(state, source),
      onPiece: ({ peak }) => heard(taken, peak),
      onTranscript: () => {
        keepingUp(view, () => view.render());
        meter.requestDraw();
        status.showLatency(taken);
      },
      onUnboostable: (phrase, description) => boostEditor.markUnboostable(phrase, description),
      onConfigured: ({ ok, description }) =>
        boostEditor.say(ok ? "In use by this stream" : description),
      onEnd: (problem) => ended(taken, view, problem),
    },
  });
  const view = new TakeView(source.name, taken.transcript, (word) => meter.pointAt(word));
  return { view, taken };
}

function heard(taken, peak) {
  meter.add(peak);
  status.showLatency(taken);
  status.remark(meter.isMute ? MUTE_REMARK : null);
}

function ended({ source, wasOpen }, view, problem) {
  session = null;
  if (wasOpen) view.settle();
  else view.element.remove();
  meter.requestDraw();
  boostEditor.say("");
  if (source.spoken) view.annotate(`Spoken: ${source.spoken}`);
  if (problem) notice.show(problem, remedy(source, problem));
}

function remedy(source, { key }) {
  if (key === "insecure-page" || key === "unsupported-browser") return undefined;
  return { label: BROKEN.has(key) ? "Reconnect" : "Try again", run: () => take(source.again()) };
}

function configure(list) {
  if (!session) return;
  boostEditor.say("Telling the server …");
  session.configure(list);
}

/** @param {File} file */
async function transcribe(file) {
  notice.clear();
  const transcript = new Transcript();
  const view = new TakeView(file.name, transcript, () => {});
  const stop = new AbortController();
  const progress = view.showProgress(() => stop.abort());
  show(view);
  try {
    for await (const step of transcribeFile(server.base, file, boosts.list, stop.signal)) {
      if (step.progress) progress.update(step.progress);
      if (step.segment) transcript.apply(step.segment);
      for (const warning of step.warnings ?? []) view.annotate(warning);
      keepingUp(view, () => view.render());
    }
    view.settle();
  } catch (error) {
    if (stop.signal.aborted) view.annotate("Cancelled.");
    else uploadFailed(error, file, view);
  } finally {
    progress.remove();
  }
}

function uploadFailed(error, file, view) {
  if (!(error instanceof SourceError)) throw error;
  view.annotate("Not transcribed.");
  const again = () => {
    view.element.remove();
    transcribe(file);
  };
  notice.show(error.problem, { label: "Try again", run: again });
}

function show(view) {
  byId("takes").append(view.element);
  view.element.scrollIntoView({ block: "end" });
}

/** Change a take; if its end was in view, keep it in view, else leave the reader where they are. */
function keepingUp({ element: take }, change) {
  const inView = take.getBoundingClientRect().bottom < innerHeight;
  change();
  if (inView) take.scrollIntoView({ block: "end" });
}

async function showServer() {
  const [{ model, boostLimits }, samples] = await Promise.all([server.about(), server.samples()]);
  byId("model").textContent = model ?? "no answer from the server";
  if (boostLimits) boosts.limits = boostLimits;
  const play = (sample) => take(new Clip(sample, server.sampleAddress(sample.file)));
  listSamples(byId("samples"), samples, play);
}

/** Browsers that keep nothing (private windows) throw at the mere mention of it. */
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
