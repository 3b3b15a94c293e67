import { plainLine } from "../contract/plain-text.ts";

/** A reader that is started again and again is not to fill a log. */
const warned = new Set<string>();

export function warnOnce(code: string, message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(plainLine(message), { type: "FiscalflowWarning", code });
}
