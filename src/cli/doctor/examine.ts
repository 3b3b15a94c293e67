import type { Connection } from "@temporalio/client";

import { createAccountingClient, parseAccountingDialect } from "../../accounting/index.ts";
import { createComplianceClient, parseDialect } from "../../compliance/index.ts";
import type { Config, TemporalConnection } from "../../config/index.ts";
import { createDispatchers } from "../../http/dispatchers.ts";
import { createTransport, type Transport } from "../../http/transport.ts";
import { TemporalError } from "../../worker/require-temporal.ts";
import { connectTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { describeError } from "../describe-error.ts";
import { uiAddress } from "../temporal-ui.ts";
import { checkAccounting } from "./check-accounting.ts";
import { checkConfiguration } from "./check-configuration.ts";
import { checkConnection } from "./check-connection.ts";
import { checkLedger } from "./check-ledger.ts";
import { checkOrdering } from "./check-ordering.ts";
import { checkOverlaps, type Reach } from "./check-overlaps.ts";
import { checkSchedules } from "./check-schedules.ts";
import { checkCalls, checkNamespace, checkSearchAttributes, checkServer, checkWorkers } from "./check-temporal.ts";
import { viewsFinding } from "./check-views.ts";
import { fault, type Finding } from "./finding.ts";

const CALL_MS = 10_000;
const EXPERIMENT_MS = 60_000;

export interface Examination {
  findings: Finding[];
  /** Calls of the compliance API that were made. */
  apiCalls: number;
  /** Calls of the accounting service that were made. */
  accountingCalls: number;
}

/** Every check, in order; each finding is printed as soon as it is known. */
export async function examine(context: CliContext, onFinding: (finding: Finding) => void): Promise<Examination> {
  const findings: Finding[] = [];
  const add = (...found: Finding[]): void => {
    findings.push(...found);
    for (const finding of found) onFinding(finding);
  };
  const { findings: configured, config, temporal } = checkConfiguration(context.env);
  add(...configured);
  if (temporal) await examineTemporal(context, temporal, config, add);
  if (config) add(...(await checkLedger(config)));
  if (!config) return { findings, apiCalls: 0, accountingCalls: 0 };
  const dispatchers = createDispatchers();
  try {
    const transport = createTransport(dispatchers);
    const apiCalls = await examineConnections(config, transport, add);
    return { findings, apiCalls, accountingCalls: await examineAccounting(config, transport, add) };
  } finally {
    await dispatchers.close();
  }
}

type Add = (...found: Finding[]) => void;

async function examineTemporal(
  context: CliContext,
  temporal: TemporalConnection,
  config: Config | undefined,
  add: Add,
): Promise<void> {
  let connection: Connection;
  try {
    connection = await connectTemporal(context, temporal);
  } catch (error) {
    if (!(error instanceof TemporalError)) throw error;
    add(fault("Temporal", error.message));
    return;
  }
  const { namespace } = temporal;
  const uiUrl = config?.temporal.uiUrl;
  const applications = new Set(config?.compliance.map(({ application }) => application));
  const attempt = async (
    check: string,
    look: () => Promise<Finding | Finding[]>,
    withinMs = CALL_MS,
  ): Promise<void> => {
    try {
      add(...[await connection.withDeadline(Date.now() + withinMs, look)].flat());
    } catch (error) {
      add(fault(check, describeError(error, { withStack: false }).message));
    }
  };
  try {
    await attempt("Temporal", () => checkServer(connection, temporal));
    const { finding, usable } = await checkNamespace(connection, temporal);
    add(finding);
    if (!usable) return;
    let areAttributesThere = true;
    await attempt("search attributes", async () => {
      const attributes = await checkSearchAttributes(connection, namespace);
      areAttributesThere = attributes.level === "ok";
      return attributes;
    });
    add(viewsFinding({ uiUrl: uiUrl && uiAddress(uiUrl), namespace }));
    await attempt("workers", () => checkWorkers(connection, namespace, applications));
    if (config) await attempt("Schedules", () => checkSchedules(connection, namespace, config));
    // Asked by the search attributes: without them the same fault would be told twice.
    if (areAttributesThere) await attempt("workers' calls", () => checkCalls(connection, namespace));
    await attempt("priority and fairness", () => checkOrdering(connection, namespace), EXPERIMENT_MS);
  } finally {
    await connection.close();
  }
}

async function examineConnections({ compliance, timings }: Config, transport: Transport, add: Add): Promise<number> {
  const reaches: Reach[] = [];
  let apiCalls = 0;
  for (const connection of compliance) {
    const { baseUrl, apiKey, auth, keyReach } = connection;
    const client = createComplianceClient({
      baseUrl,
      apiKey,
      auth,
      keyReach,
      dialect: parseDialect(connection.dialect ?? {}, connection.environment),
      transport,
      timeoutMs: Math.min(timings.callTimeoutMs, CALL_MS),
    });
    const checked = await checkConnection(connection, client);
    add(...checked.findings);
    apiCalls += checked.apiCalls;
    if (checked.businesses) reaches.push({ connection, businesses: checked.businesses });
  }
  add(...checkOverlaps(reaches));
  return apiCalls;
}

async function examineAccounting({ accounting, timings }: Config, transport: Transport, add: Add): Promise<number> {
  let calls = 0;
  for (const connection of accounting) {
    const { baseUrl, apiKey, clientSecret } = connection;
    const checked = await checkAccounting(connection, ({ signed }) =>
      createAccountingClient({
        baseUrl,
        apiKey,
        clientSecret: signed ? clientSecret : undefined,
        dialect: parseAccountingDialect(connection.dialect ?? {}),
        transport,
        timeoutMs: Math.min(timings.callTimeoutMs, CALL_MS),
      }),
    );
    add(...checked.findings);
    calls += checked.calls;
  }
  return calls;
}
