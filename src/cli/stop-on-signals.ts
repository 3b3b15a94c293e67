/**
 * One Ctrl-C may arrive twice: the terminal sends it to every process in the foreground, and npm passes its own on.
 * Nobody presses twice that fast.
 */
const SAME_WISH_MS = 500;

export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
export type StopSignal = keyof typeof EXIT_CODES;

/** The reason of an abort by a signal of the operating system. */
export class StoppedBySignal extends Error {
  override readonly name = "StoppedBySignal";
  readonly code = "STOPPED";
  readonly signalName: StopSignal;

  constructor(signalName: StopSignal) {
    super(`${signalName} was received`);
    this.signalName = signalName;
  }
}

export interface Stop {
  readonly signal: AbortSignal;
  readonly receive: (name: StopSignal) => void;
}

/**
 * The first signal asks to finish what is under way; whoever asks again does not want to wait.
 * @param exit ends the process at once
 */
export function stopOnSignals(exit: (exitCode: number) => void, nowMs: () => number): Stop {
  const stop = new AbortController();
  let firstAtMs = 0;
  const receive = (name: StopSignal): void => {
    if (!stop.signal.aborted) {
      firstAtMs = nowMs();
      stop.abort(new StoppedBySignal(name));
    } else if (nowMs() - firstAtMs >= SAME_WISH_MS) exit(EXIT_CODES[name]);
  };
  return { signal: stop.signal, receive };
}

/** What a process ends with whose work was interrupted. */
export function interruptedExitCode(signal: AbortSignal): number {
  const reason: unknown = signal.reason;
  return EXIT_CODES[reason instanceof StoppedBySignal ? reason.signalName : "SIGINT"];
}
