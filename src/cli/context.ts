import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal; `process.stdout` is one. */
export interface OutputStream extends Pick<Writable, "write"> {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** What a command has of the outside world. */
export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Results, and nothing else. */
  readonly stdout: OutputStream;
  /** Everything else: progress, logs, errors. */
  readonly stderr: OutputStream;
  /** Aborted by Ctrl-C and SIGTERM: end what was started, and return. */
  readonly signal: AbortSignal;
}
