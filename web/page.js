/**
 * Puts the parts together: one take at a time, from a microphone, a clip or a file.
 */

import { BoostEditor } from "./boosts/boost-editor.js";
import { Boosts } from "./boosts/boosts.js";
import { Clip } from "./capture/clip.js";
import { Microphone } from "./capture/microphone.js";
import { awakeUntil } from "./controls/awake.js";
import { byId } from "./controls/elements.js";
import { acceptFiles } from "./controls/file-drop.js";
import { LevelMeter } from "./controls/level-meter.js";
import { listSamples } from "./controls/samples.js";
import { stick } from "./controls/stick.js";
import { Notice, Status } from "./controls/status.js";
import { transcribeFile } from "./listen/file-upload.js";
import { Server } from "./listen/server.js";
import { Session } from "./listen/session.js";
import { SourceError } from "./problems/source-error.js";
import { KeptTakes } from "./takes/kept-takes.js";
import { TakeView } from "./takes/take-view.js";
import { Transcript } from "./takes/transcript.js";

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
const boosts = new Boosts(storage("localStorage"));
const keptTakes = new KeptTakes(storage("sessionStorage"));
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
let filesUnderWay = 0;
/** All takes on the page, oldest first. @type {Set<TakeView>} */
const views = new Set();

byId("listen").addEventListener("click", () => (session ? session.stop() : take(new Microphone())));
byId("finalize").addEventListener("click", () => session?.finalize());
addEventListener("keydown", (event) => {
  if (event.key === "Escape") session?.stop();
});
for (const column of document.querySelectorAll(".side, .side aside"))
  stick(column, document.querySelector(".dock"));
acceptFiles(byId("file"), byId("curtain"), upload);
byId("forget").addEventListener("click", forget);
byId("kept").hidden = !keptTakes.works;
addEventListener("pagehide", keep);
// A phone may end a page in the background without another word.
document.addEventListener("visibilitychange", () => document.hidden && keep());
restore();
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
      onBoostRemark: (...remark) => boostEditor.remark(...remark),
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
  keepingUp(view, () => {
    if (wasOpen) view.settle();
    else drop(view);
    if (source.spoken) view.annotate(`Spoken: ${source.spoken}`);
  });
  keep();
  meter.requestDraw();
  boostEditor.say("");
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

/** Show a file's take at once, and transcribe it after those before it. @param {File} file */
function upload(file) {
  notice.clear();
  const view = new TakeView(file.name, new Transcript(), () => {});
  const stop = new AbortController();
  const progress = view.showProgress(() => {
    stop.abort();
    progress.say("Cancelled");
  });
  if (filesUnderWay++) progress.say("Waiting for the file before it");
  show(view);
  // A file whose page failed has been reported; those behind it are read all the same.
  uploads = uploads
    .catch(() => {})
    .then(() => transcribe(file, view, progress, stop.signal))
    .finally(() => {
      filesUnderWay -= 1;
      keep();
    });
}

async function transcribe(file, view, progress, signal) {
  try {
    for await (const step of transcribeFile(server.base, file, boosts.list, signal)) {
      if (step.progress) progress.update(step.progress);
      if (step.segment) view.transcript.apply(step.segment);
      for (const warning of step.warnings ?? []) view.annotate(warning);
      keepingUp(view, () => view.render());
    }
    view.settle();
  } catch (error) {
    view.settled = true;
    if (signal.aborted) view.annotate("Cancelled.");
    else uploadFailed(error, file, view);
  } finally {
    progress.remove();
  }
}

function uploadFailed(error, file, view) {
  if (!(error instanceof SourceError)) throw error;
  view.annotate("Not transcribed.");
  const again = () => {
    drop(view);
    upload(file);
  };
  notice.show(error.problem, { label: "Try again", run: again });
}

/** Keep what is on the page through a reload. */
function keep() {
  keptTakes.write([...views].map((view) => view.kept()));
}

function restore() {
  for (const { name, at, paragraphs, notes } of keptTakes.read()) {
    const view = new TakeView(name, new Transcript(paragraphs), () => {}, at);
    view.settled = true;
    view.render();
    for (const note of notes) view.annotate(note);
    show(view);
  }
}

/** Take all off the page, and out of the browser, but what is under way. */
function forget() {
  for (const view of views) if (view.settled) drop(view);
  keptTakes.clear();
  byId("listen").focus(); // the button that was pressed is gone
}

function drop(view) {
  views.delete(view);
  view.element.remove();
}

function show(view) {
  views.add(view);
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
  if (boostLimits) boostEditor.limit(boostLimits);
  const play = (sample) => take(new Clip(sample, server.sampleAddress(sample.file)));
  listSamples(byId("samples"), samples, play);
}

/** Browsers that keep nothing (private windows) throw at the mere mention of it. */
function storage(/** @type {"localStorage"|"sessionStorage"} */ kind) {
  try {
    return globalThis[kind];
  } catch {
    return null;
  }
}
