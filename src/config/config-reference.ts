import { accountingSettings } from "./accounting-settings.ts";
import { callbackSettings } from "./callback-settings.ts";
import { complianceSettings } from "./compliance-settings.ts";
import { ledgerSettings, processSettings, temporalSettings, workerSettings } from "./process-settings.ts";
import type { Setting, SettingTable } from "./setting.ts";
import { timingSettings } from "./timing-settings.ts";

export interface ReferenceEntry {
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
    Object.entries(settings).flatMap(([key, setting]) =>
      setting.variable === undefined
        ? []
        : [settingEntry(setting.variable, [path, named ? "<name>" : "", key], setting)],
    ),
  ),
];

/** The variables that the product itself reads. */
export const knownVariables: readonly string[] = [
  CONFIG_FILE.variable,
  ...configSections.flatMap(({ settings }) => Object.values(settings).flatMap(({ variable }) => variable ?? [])),
];

/** The default of a setting as documentation shows it. */
export function defaultOf(setting: Setting<unknown>): string {
  if (setting.defaultText !== undefined) return setting.defaultText;
  return setting.required === true ? "required" : `\`${String(setting.fallback)}\``;
}

/** The reference as a Markdown table. */
export function renderConfigTable(): string {
  const rows = configReference.map(({ variable, inFile, meaning, default: fallback }) => {
    const variables = variable.split(", ").map((name) => `\`${name}\``);
    return `| ${variables.join(", ")} | ${inFile === undefined ? "–" : `\`${inFile}\``} | ${meaning} | ${fallback} |`;
  });
  return ["| variable | in the file | meaning | default |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

function settingEntry(variable: string, path: readonly string[], setting: Setting<unknown>): ReferenceEntry {
  const inFile = path.filter((part) => part !== "").join(".");
  const note = setting.variableNote === undefined ? "" : ` (${setting.variableNote})`;
  return { variable, inFile, meaning: setting.meaning + note, default: defaultOf(setting) };
}

function entry(variable: string, meaning: string, fallback: string): ReferenceEntry {
  return { variable, meaning, default: fallback };
}
