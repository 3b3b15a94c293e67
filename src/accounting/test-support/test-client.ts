import { onTestFinished } from "vitest";

import { type Respond, startStubServer, type StubServer } from "../../http/test-support/stub-server.ts";
import { createDispatchers, createTransport } from "../../http/transport.ts";
import { type AccountingClient, createAccountingClient } from "../client.ts";
import { parseAccountingDialect } from "../dialect.ts";

export const TEST_KEY = "sk_development_nobody-may-read-this";
export const TEST_SECRET = "cs_nobody-may-read-this-either";

/** A client on a real server that answers as scripted; both end with the test. */
export async function accountingClientUnderTest(
  respond: Respond,
  { dialect, clientSecret, nowMs }: { dialect?: unknown; clientSecret?: string; nowMs?: () => number } = {},
): Promise<{ client: AccountingClient; server: StubServer }> {
  const server = await startStubServer(respond);
  const dispatchers = createDispatchers();
  onTestFinished(async () => {
    await server.close();
    await dispatchers.close();
  });
  const client = createAccountingClient({
    baseUrl: `${server.baseUrl}/accounting`,
    apiKey: { reveal: () => TEST_KEY },
    ...(clientSecret !== undefined && { clientSecret: { reveal: () => clientSecret } }),
    ...(nowMs && { nowMs }),
    transport: createTransport(dispatchers),
    timeoutMs: 5_000,
    dialect: parseAccountingDialect(dialect),
  });
  return { client, server };
}

/** A list envelope around these payments. */
export function envelope(data: unknown[], more: Record<string, unknown> = {}): Record<string, unknown> {
  const page = { total: data.length, page: 1, limit: 100, totalPages: 1 };
  return { data, ...page, hasNextPage: false, hasPreviousPage: false, ...more };
}
