import { LedgerError } from "../errors.ts";

/**
 * JSON with one spelling for each value: keys in the order of their UTF-16 code units, no spaces, nothing for what is
 * undefined. What is hashed must read the same wherever it is written down again.
 * @throws LedgerError for what is no JSON
 */
export function canonicalJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, (_key, part: unknown) =>
    isPlain(part) ? sorted(part) : part,
  );
  if (text === undefined) throw new LedgerError("What is to be written down is no JSON.");
  return text;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(record).toSorted();
  // Without a prototype: "__proto__" is a name like any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const name of names) copy[name] = record[name];
  return copy;
}
