import type { Simulator } from "../index.ts";

const KEY = "sk_development_simulator";

export interface AccountingAnswer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** One call over real HTTP, with the built-in key by default; an undefined header is left out. */
export async function askAccounting(
  { accounting }: Simulator,
  path: string,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string | undefined> } = {},
): Promise<AccountingAnswer> {
  const sent = Object.entries({ "x-api-key": KEY, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const response = await fetch(`${accounting.url}${path}`, { method, headers: Object.fromEntries(sent) });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown>, headers: response.headers };
}
