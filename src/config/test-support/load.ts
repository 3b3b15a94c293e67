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
  ACCOUNTING_API_KEY: "sk_production_cccc3333",
};
export const CALLBACKS = { CALLBACK_PUBLIC_URL: "https://cb.example.com", CALLBACK_SECRETS: CALLBACK_SECRET };

export function load(env: Record<string, string>, file?: unknown, more: Partial<LoadConfigOptions> = {}) {
  const configFileText = file === undefined ? undefined : JSON.stringify(file);
  const readFile = (path: string): string => {
    throw Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" });
  };
  return loadConfig({ env, configFileText, readFile, workingDirectory: "/srv/app", ...more });
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
