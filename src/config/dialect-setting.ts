import { parseJsonc } from "./parse-jsonc.ts";
import type { About } from "./plain-settings.ts";
import { reasonOf } from "./secret-settings.ts";
import type { Reading, Setting, Sources } from "./setting.ts";
import { showFound } from "./show-found.ts";

/**
 * Overrides of the names that a service's document does not show: a JSON object, or a path to one. Only its being an
 * object is checked here; its names are checked by the client that uses them.
 */
export function dialectSetting(about: About<unknown>): Setting<unknown> {
  return {
    ...about,
    fromJson: (raw, sources) => (typeof raw === "string" ? fromFile(raw, sources.readFileOfFile) : object(raw, "")),
    fromText: (text, sources) =>
      text.trimStart().startsWith("{") ? fromJsonText(text, "") : fromFile(text, sources.readFile),
  };
}

function fromFile(path: string, readFile: Sources["readFile"]): Reading<unknown> {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const problem = `expected a JSON object, or a path to one; found ${showFound(path)}, which cannot be read (${reasonOf(error)})`;
    return { ok: false, problems: [problem] };
  }
  return fromJsonText(text, ` in ${showFound(path)}`);
}

function fromJsonText(text: string, where: string): Reading<unknown> {
  const json = parseJsonc(text);
  if (json.ok) return object(json.value, where);
  const { line, column, message } = json.problem;
  return { ok: false, problems: [`expected JSON; at line ${line}, column ${column}${where}: ${message}`] };
}

function object(value: unknown, where: string): Reading<unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ok: true, value };
  return { ok: false, problems: [`expected a JSON object, or a path to one, found ${showFound(value)}${where}`] };
}
