import type { OutputStream } from "../../cli/context.ts";

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

/** Colours for a terminal that shows them; the text itself for everything else. */
export type Paint = (text: string, colour: "green" | "red" | "yellow" | "cyan" | "dim" | "bold") => string;

const CODES = { green: 32, red: 31, yellow: 33, cyan: 36, dim: 2, bold: 1 } as const;

export const plainPaint: Paint = (text) => text;

export const colourPaint: Paint = (text, colour) => `\u001b[${CODES[colour]}m${text}\u001b[0m`;

/** NO_COLOR: see https://no-color.org. */
export function paintFor(screen: { isTTY?: boolean | undefined }, env: NodeJS.ProcessEnv): Paint {
  return screen.isTTY && !env["NO_COLOR"] && env["TERM"] !== "dumb" ? colourPaint : plainPaint;
}
