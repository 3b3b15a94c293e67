const MAX_LINES = 200;
const MAX_LINE_CHARACTERS = 2_000;

/**
 * The last lines that a child process wrote: shown when it fails, and bounded, since a server writes for as long as it
 * lives.
 */
export class OutputRing {
  readonly #lines: string[] = [];
  readonly #onLine: ((line: string) => void) | undefined;
  #unfinished = "";

  constructor(onLine?: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: string): void {
    const parts = (this.#unfinished + chunk).split(/\r?\n/);
    this.#unfinished = (parts.pop() ?? "").slice(0, MAX_LINE_CHARACTERS);
    for (const part of parts) {
      const line = part.slice(0, MAX_LINE_CHARACTERS);
      this.#lines.push(line);
      this.#onLine?.(line);
    }
    if (this.#lines.length > MAX_LINES) this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }

  /** The lines that are still held, oldest first. */
  text(): string {
    return [...this.#lines, this.#unfinished].join("\n").trim();
  }

  /** The last lines that say something, in one line: for a reason inside a sentence. */
  summary(lineCount = 3): string {
    const lines = this.text()
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    return lines.slice(-lineCount).join(" / ");
  }
}
