import type { ConfigProblem } from "../config-error.ts";
import { ConfigError } from "../config-error.ts";
import { loadConfig } from "../load-config.ts";
import type { LoadConfigOptions } from "../load-config.ts";

export const TEST_KEY = "cmp_sk_test_aaaa1111";
export const LIVE_KEY = "cmp_sk_live_bbbb2222";
export const CALLBACK_SECRET = "0123456789abcdef0123456789abcdef";
export const COMPLIANCE = {
  COMPLIANCE_BASE_URL: "https://api.example.com",
  COMPLIANCE_API_KEY: TEST_KEY,
  COMPLIANCE_BUSINESSES: "*",
};
export const ACCOUNTING = {
  ACCOUNTING_BASE_URL: "https://books.example.com",
  ACCOUNTING_API_KEY: "sk_development_cccc3333",
};
export const CALLBACKS = { CALLBACK_PUBLIC_URL: "https://cb.example.com", CALLBACK_SECRETS: CALLBACK_SECRET };

function noFile(path: string): string {
  throw Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" });
}

/**
 * The variables beside a configuration file of this text.
 * @param folder of the file, which is not written
 */
export function withFile(
  env: Record<string, string>,
  text: string,
  { folder = "/srv/app", readFile = noFile }: { folder?: string; readFile?: (path: string) => string } = {},
) {
  const configPath = `${folder}/config.json`;
  return {
    env: { ...env, FISCALFLOW_CONFIG: configPath },
    readFile: (path: string) => (path === configPath ? text : readFile(path)),
  };
}

/** @param file its text, or what it is in JSON */
export function load(env: Record<string, string>, file?: unknown, more: Partial<LoadConfigOptions> = {}) {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  const { readFile = noFile, ...others } = more;
  const read = file === undefined ? { env, readFile } : withFile(env, text, { readFile });
  return loadConfig({ ...others, ...read });
}

export function errorOf(env: Record<string, string>, file?: unknown, more?: Partial<LoadConfigOptions>): ConfigError {
  try {
    load(env, file, more);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("The configuration was accepted.");
}

export function problemsOf(
  env: Record<string, string>,
  file?: unknown,
  more?: Partial<LoadConfigOptions>,
): readonly ConfigProblem[] {
  return errorOf(env, file, more).problems;
}

/** A file with connections whose keys stand in variables. */
export function withConnections(connections: Record<string, object>) {
  return { compliance: connections };
}

export const SHOP = { baseUrl: "https://api.example.com", apiKey: { env: "SHOP_KEY" }, businesses: ["*"] };
