/**
 * Files become takes, one after the other.
 */

import { fileUrl, transcribeFile } from "../listen/file-upload.js";
import { SourceError } from "../problems/source-error.js";
import { keepingUp } from "./shelf.js";
import { TakeView } from "./take-view.js";
import { Transcript } from "./transcript.js";

/** @typedef {import("../code/request-code.js").Request} Request */
/** @typedef {import("../listen/file-upload.js").Progress & {tookS: number}} FileProgress */

export class FileTakes {
  #uploads = Promise.resolve();
  #underWay = 0;

  /**
   * @param {object} parts
   * @param {string} parts.base address of the page
   * @param {import("./shelf.js").Shelf} parts.shelf
   * @param {import("../controls/status.js").Notice} parts.notice
   * @param {() => import("../listen/file-upload.js").Asked} parts.asked
   * @param {(view: TakeView, request: Request) => void} parts.onRequest
   * @param {(view: TakeView, file: File) => void} parts.onHeard
   * @param {(name: string, progress: FileProgress|null) => void} parts.onProgress null: it is over
   */
  constructor({ base, shelf, notice, asked, onRequest, onHeard, onProgress }) {
    this.base = base;
    this.shelf = shelf;
    this.notice = notice;
    this.asked = asked;
    this.onRequest = onRequest;
    this.onHeard = onHeard;
    this.onProgress = onProgress;
  }

  /** Show a file's take at once, and transcribe it after those before it. @param {File} file */
  upload(file) {
    this.notice.clear();
    const view = new TakeView(file.name, new Transcript());
    const stop = new AbortController();
    const progress = view.showProgress(() => {
      stop.abort();
      progress.say("Cancelled");
    });
    if (this.#underWay++) progress.say("Waiting for the file before it");
    this.shelf.show(view);
    // A file whose page failed has been reported; those behind it are read all the same.
    this.#uploads = this.#uploads
      .catch(() => {})
      .then(() => this.#transcribe(file, view, progress, stop.signal))
      .finally(() => {
        this.#underWay -= 1;
        this.shelf.keep();
      });
  }

  async #transcribe(file, view, progress, signal) {
    const asked = this.asked();
    this.onRequest(view, { live: false, url: fileUrl(this.base, asked), file: file.name });
    const beganMs = performance.now();
    try {
      for await (const step of transcribeFile(this.base, file, asked, signal)) {
        if (step.progress) {
          progress.update(step.progress);
          const tookS = (performance.now() - beganMs) / 1000;
          this.onProgress(file.name, { ...step.progress, tookS });
        }
        if (step.segment) view.transcript.apply(step.segment);
        for (const warning of step.warnings ?? []) view.annotate(warning);
        keepingUp(view, () => view.render());
      }
      view.settle();
      this.onHeard(view, file);
    } catch (error) {
      view.settled = true;
      if (signal.aborted) view.annotate("Cancelled.");
      else this.#failed(error, file, view);
    } finally {
      progress.remove();
      this.onProgress(file.name, null);
    }
  }

  #failed(error, file, view) {
    if (!(error instanceof SourceError)) throw error;
    view.annotate("Not transcribed.");
    const again = () => {
      this.shelf.drop(view);
      this.upload(file);
    };
    this.notice.show(error.problem, { label: "Try again", run: again });
  }
}
