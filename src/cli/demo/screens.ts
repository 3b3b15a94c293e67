import type { OutputStream } from "../context.ts";
import type { Paint } from "./paint.ts";

/** Where a demo shows what it does. */
export interface Screens {
  /** Results. */
  readonly stdout: OutputStream;
  /** What is going on. */
  readonly stderr: OutputStream;
  /** Of stderr. */
  readonly paint: Paint;
  readonly stdoutPaint: Paint;
  readonly signal: AbortSignal;
}
