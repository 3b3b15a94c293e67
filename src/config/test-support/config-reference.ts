import { z } from "zod";

import type { SettingTable } from "../setting-kinds.ts";
import { configSections } from "../settings.ts";

/** What docs/configuration.md is made of. */

interface ReferenceEntry {
  variable: string;
  /** Where the JSON file says the same; absent where only a variable can. */
  inFile?: string;
  meaning: string;
  default: string;
}

const CONFIG_FILE: ReferenceEntry = {
  variable: "FISCALFLOW_CONFIG",
  meaning: "a JSON file, for several connections; comments are allowed",
  default: "none",
};

/** Read by Temporal's own library and, the last two, by the servers of this host. */
const TEMPORAL_VARIABLES = [
  [
    "TEMPORAL_ADDRESS",
    "`host:port` of the Temporal frontend; without it, `demo` starts its own server",
    "`localhost:7233`",
  ],
  ["TEMPORAL_NAMESPACE", "the namespace", "`default`"],
  ["TEMPORAL_API_KEY", "an API key; turns TLS on", "none"],
  [
    "TEMPORAL_TLS",
    "`true` or `false`: TLS on or off, whatever the variables below say",
    "on if an API key or one of them is set",
  ],
  ["TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_CERT_DATA", "the client's certificate", "none"],
  ["TEMPORAL_TLS_CLIENT_KEY_PATH, TEMPORAL_TLS_CLIENT_KEY_DATA", "the client's private key", "none"],
  [
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_SERVER_CA_CERT_DATA",
    "the CA certificate that verifies the server's certificate",
    "the CAs of the system",
  ],
  ["TEMPORAL_TLS_SERVER_NAME", "the name in the server's certificate", "the host of the address"],
  [
    "TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE",
    "a profile of Temporal's own configuration file; variables take precedence over it",
    "the profile `default` of Temporal's usual file, if that exists",
  ],
  [
    "TEMPORAL_CLI_PATH",
    "the executable of the embedded Temporal server, for `demo` and tests",
    "searched for on `PATH`, else downloaded or built",
  ],
  ["TEMPORAL_TEST_SERVER_PATH", "the executable of the time-skipping server for tests", "downloaded or built"],
] as const;

/** Every variable with its meaning and default, in the order of the documentation. */
export const configReference: readonly ReferenceEntry[] = [
  CONFIG_FILE,
  ...TEMPORAL_VARIABLES.map(([variable, meaning, fallback]) => ({ variable, meaning, default: fallback })),
  ...configSections.flatMap(({ path, named, settings }) =>
    Object.entries(settings).map(([key, schema]) => {
      const inFile = [path, named ? "<name>" : "", key].filter((part) => part !== "").join(".");
      const { variable = "", description: meaning = "", note } = schema.meta() ?? {};
      return { variable, inFile, meaning: note ? `${meaning} (${note})` : meaning, default: defaultText(schema) };
    }),
  ),
];

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
  const { description: meaning = "", variable } = schema.meta() ?? {};
  const fallback = isRequired(schema) ? "Required." : `Default: ${defaultText(schema).replaceAll("`", "")}.`;
  const plain = meaning.replaceAll("`", "");
  // A word of the configuration keeps its spelling at the beginning of a sentence too.
  const sentence = meaning.startsWith("`") ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  return [`// ${sentence}.`, `// ${fallback} ${variable}.`];
}

/** The default of a setting as documentation shows it. */
function defaultText(schema: z.ZodType): string {
  if (isRequired(schema)) return "required";
  const value = defaultOf(schema);
  const isText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return schema.meta()?.defaultText ?? (isText ? `\`${value}\`` : "none");
}

function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse(undefined).success;
}

function oneLine(value: unknown): string {
  return JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, " ").replaceAll("[ ", "[").replaceAll(" ]", "]");
}

/** The default of a schema, as the file would say it. */
function defaultOf(schema: z.ZodType): unknown {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ? schema.def.defaultValue : undefined;
}
