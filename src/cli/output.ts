import { nairobiInstant } from "../contract/nairobi-date.ts";
import { plainJson, plainText } from "../contract/plain-text.ts";
import type { CliContext } from "./context.ts";

/** The result of a command: for machines one JSON document, for people a text. */
export function printResult(context: CliContext, json: boolean | undefined, data: unknown, text: string): void {
  context.stdout.write(`${json === true ? jsonText(data, 2) : plainText(text)}\n`);
}

/** What is going on, for whoever watches. */
export function printNote(context: CliContext, text: string): void {
  context.stderr.write(`${plainText(text)}\n`);
}

/** Resolves once the piece is out, so that a slow reader does not fill the memory. */
export function written({ stdout }: CliContext, piece: string | Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    stdout.write(piece, (error) => (error ? failed(error) : done()));
  });
}

/** JSON for a stream that may be a terminal. @param spaces of each indentation; absent: on one line */
export function jsonText(data: unknown, spaces?: number): string {
  return plainJson(JSON.stringify(data, null, spaces));
}

/**
 * What a command prints as JSON says when in one way: every field of Unix milliseconds (`sinceMs`) becomes one of ISO
 * 8601 with Nairobi's offset (`since`). None of these data holds a length of time, whose name would end alike.
 */
export function withInstants(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withInstants);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]: [string, unknown]) => {
      if (!name.endsWith("Ms") || (typeof value !== "number" && value !== null)) return [name, withInstants(value)];
      return [name.slice(0, -"Ms".length), value === null ? null : nairobiInstant(value)];
    }),
  );
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { timeZone: "Africa/Nairobi", timeStyle: "medium" });

/** The time of day as a shop's clock showed it: `13:05:09`. */
export function nairobiClock(atMs: number): string {
  return CLOCK.format(atMs);
}

/** A decimal text without zeros that say nothing. */
export function plain(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** How long ago, in its two largest units: `2 d 4 h`. */
export function age(sinceMs: number, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - sinceMs) / 60_000));
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
}

/** A word of a command line that can be pasted into a POSIX shell, or into PowerShell on Windows. */
export function shellWord(text: string, platform: NodeJS.Platform = process.platform): string {
  const isWindows = platform === "win32";
  const plain = isWindows ? /^[\w+=:./-]+$/ : /^[\w@%+=:,./-]+$/;
  if (plain.test(text) && !text.startsWith("-")) return text;
  return `'${text.replaceAll("'", isWindows ? "''" : `'\\''`)}'`;
}

/** `1 fault`, `2 faults`, `2 batches` */
export function counted(count: number, noun: string, several = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : several}`;
}
