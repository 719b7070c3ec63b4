/** A source of sound that failed, with the {@link import("./problems.js").Problem} to show. */
export class SourceError extends Error {
  /** @param {import("./problems.js").Problem} problem @param {ErrorOptions} [options] */
  constructor(problem, options) {
    super(problem.title, options);
    this.problem = problem;
  }
}
