/**
 * Puts the parts together: one take at a time, from a microphone, a clip or a file.
 */

import { BoostEditor } from "./boosts/boost-editor.js";
import { Boosts } from "./boosts/boosts.js";
import { Clip } from "./capture/clip.js";
import { Microphone, microphones } from "./capture/microphone.js";
import { showCode } from "./code/code-view.js";
import { awakeUntil } from "./controls/awake.js";
import { byId } from "./controls/elements.js";
import { acceptFiles } from "./controls/file-drop.js";
import { LevelMeter } from "./controls/level-meter.js";
import { listSamples } from "./controls/samples.js";
import { sheetOf } from "./controls/sheet.js";
import { stick } from "./controls/stick.js";
import { Notice, Status } from "./controls/status.js";
import { Reconnect } from "./listen/reconnect.js";
import { Server } from "./listen/server.js";
import { Session } from "./listen/session.js";
import { showModel } from "./model/model-view.js";
import { Options } from "./options/options.js";
import { OptionsForm } from "./options/options-form.js";
import { FileTakes } from "./takes/file-takes.js";
import { KeptTakes } from "./takes/kept-takes.js";
import { keepingUp, Shelf } from "./takes/shelf.js";
import { SoundActions } from "./takes/sound-actions.js";
import { TakeView } from "./takes/take-view.js";

const BROKEN = new Set([
  "connection-lost",
  "server-stopping",
  "server-error",
  "server-unreachable",
]);
const MUTE_REMARK = "Nothing but silence: is the microphone muted?";

const server = new Server(document.baseURI);
const meter = new LevelMeter(byId("ribbon"), byId("level"));
const reconnect = new Reconnect();
const notice = new Notice(byId("notice"), () => reconnect.cancel());
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
const options = new Options(storage("localStorage"));
const optionsForm = new OptionsForm(byId("options"), byId("options-open"), options);
const keptTakes = new KeptTakes(storage("sessionStorage"));
const shelf = new Shelf(byId("takes"), keptTakes);
const asked = () => ({ boosts: boosts.list, parameters: options.parameters() });
const sounds = new SoundActions({ base: server.base, notice, asked });
const files = new FileTakes({
  base: server.base,
  shelf,
  notice,
  asked,
  onRequest: offerCode,
  onHeard: (view, file) => sounds.offer(view, file),
  onProgress: showFile,
});
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

byId("listen").addEventListener("click", () => (session ? stop() : take(microphone())));
sheetOf(byId("options"), byId("options-open"), offerMicrophones);
sheetOf(byId("model-sheet"), byId("model-open"));
byId("finalize").addEventListener("click", () => session?.finalize());
addEventListener("keydown", (event) => {
  // Above the page a sheet is what Escape closes, wherever the focus is.
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) stop();
});
for (const column of document.querySelectorAll(".side, .side aside"))
  stick(column, document.querySelector(".dock"));
acceptFiles(byId("file"), byId("curtain"), (file) => {
  reconnect.cancel();
  files.upload(file);
});
byId("forget").addEventListener("click", forget);
byId("kept").hidden = !keptTakes.works;
addEventListener("pagehide", () => shelf.keep());
// A phone may end a page in the background without another word.
document.addEventListener("visibilitychange", () => document.hidden && shelf.keep());
shelf.restore();
showServer();

/** What is under way ends, and nothing begins by itself. */
function stop() {
  reconnect.cancel();
  session?.stop();
}

/** Run a source through a stream, and show it. */
async function take(source) {
  wanted = source;
  await session?.stop();
  await session?.over;
  if (wanted !== source) return;
  reconnect.cancel();
  notice.clear();
  const { view, taken } = newTake(source);
  session = taken;
  shelf.show(view);
  meter.start(taken.transcript);
  await Promise.all([taken.start(boosts.list, options.parameters()), awakeUntil(taken.over)]);
}

function newTake(source) {
  const taken = new Session({
    source,
    server,
    handlers: {
      onState: (state) => status.show(state, source),
      onPiece: ({ peak }) => heard(taken, peak),
      onEvent: () => view.events.render(),
      onTranscript: () => {
        reconnect.succeeded();
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
  const view = new TakeView(source.name, taken.transcript, {
    onPoint: (word) => meter.pointAt(word),
  });
  view.showEvents(taken.events);
  return { view, taken };
}

/** @param {TakeView} view @param {import("./code/request-code.js").Request} request */
function offerCode(view, request) {
  view.offer("Code", () => showCode(byId("code"), request));
}

function heard(taken, peak) {
  meter.add(peak);
  status.showLatency(taken);
  status.remark(meter.isMute ? MUTE_REMARK : null);
}

function ended(taken, view, problem) {
  const { source, wasOpen, url, recording } = taken;
  session = null;
  keepingUp(view, () => {
    if (wasOpen) view.settle();
    else shelf.drop(view);
    if (source.spoken) view.annotate(`Spoken: ${source.spoken}`);
  });
  const sound = recording.wav();
  if (wasOpen && sound) sounds.offer(view, sound); // also of the words that were settled just now
  if (wasOpen) offerCode(view, { live: true, url });
  shelf.keep();
  meter.requestDraw();
  boostEditor.say("");
  if (problem) notice.show(again(taken, problem), remedy(source, problem));
}

/** A broken microphone's stream is taken up by itself. A clip would begin from its start. */
function again({ source, isUnwanted }, problem) {
  const isBroken = BROKEN.has(problem.key) && source instanceof Microphone;
  if (!isBroken || isUnwanted) return problem;
  const waitS = reconnect.schedule(() => take(source.again()));
  if (waitS === null) return problem;
  const lost = `Listening again in ${waitS} s; what is said until then is lost.`;
  return { ...problem, advice: `${problem.advice} ${lost}` };
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

/** Take all off the page, and out of the browser, but what is under way. */
function forget() {
  reconnect.cancel();
  shelf.forget();
  sounds.forget();
  byId("listen").focus(); // the button that was pressed is gone
}

function microphone() {
  return new Microphone(options.chosen.microphone);
}

/** The dock is of the take that is under way; a live one comes first. */
function showFile(name, progress) {
  if (session) return;
  if (!progress) return status.remark(null);
  status.showFile(name, progress);
  if (progress.totalS) meter.showFile(progress.doneS / progress.totalS);
}

async function offerMicrophones() {
  optionsForm.offerMicrophones(await microphones());
}

async function showServer() {
  const [about, card, samples] = await Promise.all([
    server.about(),
    server.card(),
    server.samples(),
  ]);
  const { model, boostLimits, languageModels } = about;
  byId("model").textContent = model?.name ?? "no answer from the server";
  byId("model-open").disabled = model === null;
  if (boostLimits) boostEditor.limit(boostLimits);
  if (model) {
    byId("model-title").textContent = model.name;
    showModel(byId("model-facts"), byId("model-card"), model, card);
    optionsForm.offer({
      models: languageModels,
      ownModel: Boolean(model.graph ?? model.transducer_lm),
      detectsTurns: model.detects_turns === true,
    });
  }
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
