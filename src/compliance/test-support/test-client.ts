import { type Respond, startStubServer, type StubServer } from "../../http/test-support/stub-server.ts";
import { createDispatchers, createTransport } from "../../http/transport.ts";
import { type ComplianceClient, type ComplianceClientOptions, createComplianceClient } from "../client.ts";
import { parseDialect } from "../dialect.ts";

export const TEST_KEY = "cmp_sk_test_nobody-may-read-this";

export interface TestClient {
  client: ComplianceClient;
  server: StubServer;
  close: () => Promise<void>;
}

/** A client on a real server that answers as scripted. */
export async function startTestClient(
  respond: Respond,
  options: Partial<Omit<ComplianceClientOptions, "dialect">> & { dialect?: unknown } = {},
): Promise<TestClient> {
  const server = await startStubServer(respond);
  const dispatchers = createDispatchers();
  const client = createComplianceClient({
    baseUrl: server.baseUrl,
    apiKey: { reveal: () => TEST_KEY },
    keyReach: "organisation",
    transport: createTransport(dispatchers),
    timeoutMs: 5_000,
    ...options,
    dialect: parseDialect(options.dialect),
  });
  const close = async () => {
    await server.close();
    await dispatchers.close();
  };
  return { client, server, close };
}

/** The error that a call ends in; the test fails where it does not. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("the call was expected to fail");
}
