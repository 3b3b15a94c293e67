import { parseJsonc } from "../config/parse-jsonc.ts";
import { UsageError } from "./cli-error.ts";

/** A string, whole; a comment's beginning; a comma that nothing follows. What is none of these is passed over. */
const TOKEN = /"(?:[^"\\]|\\.)*"|\/[/*]|,(?=\s*[\]}])/gy;

/**
 * Strict JSON: no comments, no trailing commas, no key twice in one object (of which JSON.parse silently takes the
 * last).
 * @throws UsageError with line and column
 */
export function parseJson(text: string, name: string): unknown {
  const reading = parseJsonc(text);
  if (!reading.ok) {
    const { line, column, message } = reading.problem;
    throw notJson(name, line, column, message);
  }
  const beyond = beyondJson(text);
  if (beyond !== undefined) {
    const before = text.slice(0, beyond.offset).split(/\r\n|\r|\n/);
    throw notJson(name, before.length, (before.at(-1)?.length ?? 0) + 1, beyond.message);
  }
  return reading.value;
}

/** What the configuration's reader allows and JSON does not. */
function beyondJson(text: string): { offset: number; message: string } | undefined {
  let offset = 0;
  while (offset < text.length) {
    TOKEN.lastIndex = offset;
    const token = TOKEN.exec(text)?.[0];
    if (token?.startsWith("/") === true) return { offset, message: "JSON has no comments" };
    if (token === ",") return { offset, message: "expected another member after the comma" };
    offset += token?.length ?? 1;
  }
  return undefined;
}

function notJson(name: string, line: number, column: number, message: string): UsageError {
  return new UsageError(`${name} is not JSON: line ${line}, column ${column}: ${message}.`);
}
