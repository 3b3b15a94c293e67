import { parseJsonc } from "../config/parse-jsonc.ts";
import { UsageError } from "./cli-error.ts";

/**
 * Strict JSON: no comments, no trailing commas, no key twice in one object (of which JSON.parse silently takes the
 * last).
 * @throws UsageError with line and column
 */
export function parseJson(text: string, name: string): unknown {
  const reading = parseJsonc(text, { strict: true });
  if (reading.ok) return reading.value;
  const { line, column, message } = reading.problem;
  throw new UsageError(`${name} is not JSON: line ${line}, column ${column}: ${message}.`);
}
