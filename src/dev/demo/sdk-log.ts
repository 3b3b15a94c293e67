import { pino } from "pino";
import { installRuntime } from "../../worker/install-runtime.ts";

const KEPT_LINES = 10;

/** What Temporal's SDK says, kept from the screen; the last of it is there for the case that something fails. */
export class SdkLog {
  readonly #lines: string[] = [];

  get lastLines(): string[] {
    return this.#lines.map(readable);
  }

  /**
   * To be called immediately before the first connection: the runtime ends with the last one, but unused it holds the
   * process open.
   */
  async install(): Promise<void> {
    const write = (line: string): void => {
      this.#lines.push(line);
      if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    };
    await installRuntime({ log: pino({ level: "warn" }, { write }) });
  }
}

function readable(line: string): string {
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
  return [msg, err?.message].filter((part) => part !== undefined).join(": ");
}
