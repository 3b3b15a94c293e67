import type { z } from "zod";

import { accountingSettings, callbackSettings, complianceSettings } from "./connection-settings.ts";
import {
  ledgerSettings,
  processSettings,
  temporalSettings,
  timingSettings,
  workerSettings,
} from "./process-settings.ts";
import { defaultOf, formOf, type SettingTable } from "./setting-kinds.ts";

interface ReferenceEntry {
  variable: string;
  /** Where the JSON file says the same; absent where only a variable can. */
  inFile?: string;
  meaning: string;
  default: string;
}

/** Every section of the JSON file. `named`: an object of connections, each with these settings. */
export const configSections: readonly { path: string; named: boolean; settings: SettingTable }[] = [
  { path: "compliance", named: true, settings: complianceSettings },
  { path: "accounting", named: true, settings: accountingSettings },
  { path: "callbacks", named: false, settings: callbackSettings },
  { path: "ledger", named: false, settings: ledgerSettings },
  { path: "temporal", named: false, settings: temporalSettings },
  { path: "worker", named: false, settings: workerSettings },
  { path: "", named: false, settings: processSettings },
  { path: "timings", named: false, settings: timingSettings },
];

const TEMPORAL_VARIABLES: readonly ReferenceEntry[] = [
  entry(
    "TEMPORAL_ADDRESS",
    "`host:port` of the Temporal frontend; without it, `demo` starts its own server",
    "`localhost:7233`",
  ),
  entry("TEMPORAL_NAMESPACE", "the namespace", "`default`"),
  entry("TEMPORAL_API_KEY", "an API key; turns TLS on", "none"),
  entry(
    "TEMPORAL_TLS",
    "`true` or `false`: TLS on or off, whatever the variables below say",
    "on if an API key or one of them is set",
  ),
  entry("TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_CERT_DATA", "the client's certificate", "none"),
  entry("TEMPORAL_TLS_CLIENT_KEY_PATH, TEMPORAL_TLS_CLIENT_KEY_DATA", "the client's private key", "none"),
  entry(
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_SERVER_CA_CERT_DATA",
    "the CA certificate that verifies the server's certificate",
    "the CAs of the system",
  ),
  entry("TEMPORAL_TLS_SERVER_NAME", "the name in the server's certificate", "the host of the address"),
  entry(
    "TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE",
    "a profile of Temporal's own configuration file; variables take precedence over it",
    "the profile `default` of Temporal's usual file, if that exists",
  ),
];

const CONFIG_FILE = entry("FISCALFLOW_CONFIG", "a JSON file, for several connections; comments are allowed", "none");

/** Every variable with its meaning and default, in the order of the documentation. */
export const configReference: readonly ReferenceEntry[] = [
  CONFIG_FILE,
  ...TEMPORAL_VARIABLES,
  ...configSections.flatMap(({ path, named, settings }) =>
    Object.entries(settings).map(([key, schema]) => {
      const inFile = [path, named ? "<name>" : "", key].filter((part) => part !== "").join(".");
      const { variable = "", meaning = "" } = schema.meta() ?? {};
      const { note } = formOf(schema);
      return { variable, inFile, meaning: note ? `${meaning} (${note})` : meaning, default: defaultText(schema) };
    }),
  ),
];

/** The variables that the product itself reads. */
export const knownVariables: readonly string[] = configReference
  .filter((one) => one === CONFIG_FILE || one.inFile !== undefined)
  .map(({ variable }) => variable);

/** The reference as a Markdown table. */
export function renderConfigTable(): string {
  const rows = configReference.map(({ variable, inFile, meaning, default: fallback }) => {
    const variables = variable.split(", ").map((name) => `\`${name}\``);
    return `| ${variables.join(", ")} | ${inFile === undefined ? "–" : `\`${inFile}\``} | ${meaning} | ${fallback} |`;
  });
  return ["| variable | in the file | meaning | default |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

const EXAMPLE_CONNECTION = "shop";

/**
 * The JSON file with every setting, commented (JSONC, as the product reads it). What has a default stands there with
 * it; what has none is an example, commented out unless it is needed.
 * @param dialects the members of each service's dialect by its section, which the clients know; else it is left out
 */
export function renderConfigExample(dialects: Readonly<Record<string, readonly string[]>> = {}): string {
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
  return Object.entries(settings).flatMap(([key, schema]) => {
    const { example, inExample } = schema.meta() ?? {};
    const inactive = example !== undefined && !isRequired(schema) && inExample !== true;
    const member =
      key === "dialect" && dialect !== undefined
        ? [`"${key}": {`, ...dialect, "},"]
        : [`${inactive ? "// " : ""}"${key}": ${oneLine(example ?? defaultOf(schema))},`];
    return [...comment(schema), ...member].map((line) => indent + line);
  });
}

function comment(schema: z.ZodType): string[] {
  const { meaning = "", variable } = schema.meta() ?? {};
  const fallback = isRequired(schema) ? "Required." : `Default: ${defaultText(schema).replaceAll("`", "")}.`;
  const plain = meaning.replaceAll("`", "");
  // A word of the configuration keeps its spelling at the beginning of a sentence too.
  const sentence = meaning.startsWith("`") ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  return [`// ${sentence}.`, `// ${fallback} ${variable}.`];
}

/** The default of a setting as documentation shows it. */
function defaultText(schema: z.ZodType): string {
  if (isRequired(schema)) return "required";
  return schema.meta()?.defaultText ?? `\`${String(defaultOf(schema))}\``;
}

function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse(undefined).success;
}

function oneLine(value: unknown): string {
  return JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, " ").replaceAll("[ ", "[").replaceAll(" ]", "]");
}

function entry(variable: string, meaning: string, fallback: string): ReferenceEntry {
  return { variable, meaning, default: fallback };
}
