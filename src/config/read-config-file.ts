import type { ConfigProblem } from "./config-error.ts";
import { parseJsonc } from "./parse-jsonc.ts";
import { reasonOf } from "./secret-settings.ts";
import { asObject } from "./setting.ts";
import { showFound } from "./show-found.ts";

export const CONFIG_FILE_VARIABLE = "FISCALFLOW_CONFIG";

export interface ConfigFile {
  /** Undefined: no file is named. */
  path: string | undefined;
  /** The file's text where the caller has it already. */
  text: string | undefined;
  readFile: (path: string) => string;
}

/**
 * The top-level object of the configuration file; empty where there is none, or where it cannot be read (a problem then
 * says so).
 */
export function readConfigFile(file: ConfigFile, problems: ConfigProblem[]): Readonly<Record<string, unknown>> {
  const name = file.path === undefined ? "the configuration file" : showFound(file.path);
  let { text } = file;
  if (text === undefined) {
    if (file.path === undefined) return {};
    try {
      text = file.readFile(file.path);
    } catch (error) {
      const message = `expected the path of a JSON file, found ${name}, which cannot be read (${reasonOf(error)})`;
      problems.push({ path: CONFIG_FILE_VARIABLE, message });
      return {};
    }
  }
  const json = parseJsonc(text);
  if (json.ok) return asObject(json.value, "", problems) ?? {};
  const { line, column, message } = json.problem;
  problems.push({
    path: CONFIG_FILE_VARIABLE,
    message: `${name} is not JSON; at line ${line}, column ${column}: ${message}`,
  });
  return {};
}
