import { configSections, defaultOf } from "./config-reference.ts";
import type { Setting, SettingTable } from "./setting.ts";

const EXAMPLE_CONNECTION = "shop";

/** By the section of the service. */
type DialectExamples = Readonly<Record<string, readonly string[]>>;

/**
 * The JSON file with every setting, commented (JSONC, as the product reads it). What has a default stands there with
 * it; what has none is an example, commented out unless it is needed.
 * @param dialects the members of each service's dialect, which the clients know; without them it is left out
 */
export function renderConfigExample(dialects: DialectExamples = {}): string {
  const lines = [
    '// Every setting with its default. A secret is never written here: { "env": "NAME" } takes it from a variable,',
    '// { "file": "PATH" } from a file. A variable that is named beside a setting takes precedence over this file; for',
    '// connections, only in the one called "default". Paths of secrets and dialects are relative to the folder of this file.',
    "{",
  ];
  for (const { path, named, settings } of configSections) {
    if (path === "") {
      lines.push(...members(settings, "  "));
    } else if (named) {
      lines.push(`  "${path}": {`, "    // The connection's name: 1 to 32 characters from a-z, 0-9 and -.");
      lines.push(`    "${EXAMPLE_CONNECTION}": {`, ...members(settings, "      ", dialects[path]), "    },", "  },");
    } else {
      lines.push(`  "${path}": {`, ...members(settings, "    "), "  },");
    }
  }
  lines.push("}", "");
  return lines.join("\n");
}

function members(settings: SettingTable, indent: string, dialect?: readonly string[]): string[] {
  return Object.entries(settings).flatMap(([key, setting]) => {
    if (key === "dialect" && dialect !== undefined) {
      const lines = [...comment(setting).map((line) => `// ${line}`), `"${key}": {`, ...dialect, "},"];
      return lines.map((line) => `${indent}${line}`);
    }
    const shown = oneLine(setting.example ?? setting.fallback);
    const inactive = setting.example !== undefined && setting.required !== true && setting.inExample !== true;
    return [
      ...comment(setting).map((line) => `${indent}// ${line}`),
      `${indent}${inactive ? "// " : ""}${JSON.stringify(key)}: ${shown},`,
    ];
  });
}

function comment(setting: Setting<unknown>): string[] {
  const variable = setting.variable === undefined ? "" : ` ${setting.variable}.`;
  const fallback = setting.required === true ? "Required." : `Default: ${defaultOf(setting).replaceAll("`", "")}.`;
  const meaning = setting.meaning.replaceAll("`", "");
  // A word of the configuration keeps its spelling at the beginning of a sentence too.
  const sentence = setting.meaning.startsWith("`") ? meaning : meaning.charAt(0).toUpperCase() + meaning.slice(1);
  return [`${sentence}.`, `${fallback}${variable}`];
}

function oneLine(value: unknown): string {
  return JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, " ").replaceAll("[ ", "[").replaceAll(" ]", "]");
}
