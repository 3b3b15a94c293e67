/** One way that was tried, and why it did not work. */
export interface FailedWay {
  readonly way: string;
  readonly reason: string;
}

/** No executable could be had. The message names every way that was tried, with its reason, and what to do. */
export class NoTemporalServerError extends Error {
  override readonly name = "NoTemporalServerError";
  readonly code = "NO_TEMPORAL_SERVER";
  readonly tried: readonly FailedWay[];
  /** The search ended with a path that somebody gave, and that is wrong. */
  readonly binding: boolean;

  constructor(what: string, tried: readonly FailedWay[], whatToDo: string, binding = false) {
    const ways = tried.map(({ way, reason }) => `  - ${way}: ${reason}`);
    super([`No ${what} could be had. Tried:`, ...ways, `What to do: ${whatToDo}`].join("\n"));
    this.tried = tried;
    this.binding = binding;
  }
}
