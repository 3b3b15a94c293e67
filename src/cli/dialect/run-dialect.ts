import { randomBytes } from "node:crypto";

import { createAccountingClient, parseAccountingDialect } from "../../accounting/index.ts";
import { createComplianceClient, parseDialect } from "../../compliance/index.ts";
import type { AccountingConnection, ComplianceConnection, Config } from "../../config/index.ts";
import { DEFAULT_CONNECTION, nairobiDate } from "../../contract/index.ts";
import { compareDialect, type Findings } from "../../dialect/compare.ts";
import { accountingSettings, complianceSettings } from "../../dialect/services.ts";
import { createDispatchers } from "../../http/dispatchers.ts";
import { createTransport, type Transport } from "../../http/transport.ts";
import { loadProcessConfig } from "../../worker/load-process-config.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import { confirm, requireTerminal } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { interruptible } from "../interruptible.ts";
import { printNote, printResult } from "../output.ts";
import { probeAccounting } from "./accounting-probe.ts";
import type { ComplianceProbe } from "./compliance-probe.ts";
import { probeReads, type SeenItem } from "./compliance-reads.ts";
import { probeWrites } from "./compliance-writes.ts";
import { CallsSpentError, Prober } from "./prober.ts";
import { type DialectReport, reportText, writeLine } from "./report.ts";
import type { Write } from "./write.ts";

export interface DialectFlags {
  connection?: string;
  service?: "compliance" | "accounting";
  check?: boolean;
  write?: boolean;
  item?: string;
  yes?: boolean;
  json?: boolean;
}

/** Of each connection. A service that knows none of the usual names takes some 150. */
const MOST_CALLS = 300;

/**
 * The `dialect` command.
 * @throws UsageError, ConfigError, CommandFailedError, once the report is printed, where a search failed, or with
 * `--check` where a dialect does not fit
 */
export async function runDialect(context: CliContext, flags: DialectFlags): Promise<void> {
  const config = loadProcessConfig({ env: context.env });
  const { compliance, accounting } = chosen(config, flags);
  if (flags.write === true) await allowWrites(context, flags, compliance);
  const dispatchers = createDispatchers();
  const around: Surroundings = { context, flags, config, transport: createTransport(dispatchers) };
  const reports: DialectReport[] = [];
  try {
    await interruptible(async () => {
      if (compliance) reports.push(await reportCompliance(around, compliance));
      if (accounting) reports.push(await reportAccounting(around, accounting));
    }, context.signal);
  } finally {
    await dispatchers.close();
  }
  const fits = reports.every((report) => report.fits);
  printResult(context, flags.json, { fits, services: reports }, reports.map(reportText).join("\n\n\n"));
  const failures = reports.flatMap(({ service, connection, failed, ended }) =>
    failed === true ? [`The search of ${service} connection ${connection} failed: ${ended ?? ""}`] : [],
  );
  if (failures.length > 0) throw new CommandFailedError(failures.join("\n"));
  if (flags.check === true && !fits) throw new CommandFailedError("");
}

interface Surroundings {
  context: CliContext;
  flags: DialectFlags;
  config: Config;
  transport: Transport;
}

function chosen(
  config: Config,
  { service, connection }: DialectFlags,
): { compliance?: ComplianceConnection; accounting?: AccountingConnection } {
  const of = <C extends { name: string }>(name: "compliance" | "accounting", all: readonly C[]): C | undefined => {
    if (service !== undefined && service !== name) return undefined;
    if (connection !== undefined) return all.find((one) => one.name === connection);
    const usual = all.length === 1 ? all[0] : all.find((one) => one.name === DEFAULT_CONNECTION);
    if (usual !== undefined || all.length === 0) return usual;
    const among = all.map((one) => one.name).join(", ");
    throw new UsageError(
      `Several ${name} connections are configured: ${among}. Name one with --connection, or ask the other service alone with --service.`,
    );
  };
  const [compliance, accounting] = [of("compliance", config.compliance), of("accounting", config.accounting)];
  if (compliance ?? accounting) return { ...(compliance && { compliance }), ...(accounting && { accounting }) };
  const names = [
    ...config.compliance.map(({ name }) => `${name} (compliance)`),
    ...config.accounting.map(({ name }) => `${name} (accounting)`),
  ];
  const exist =
    names.length === 0 ? "None is configured." : `Name one of these with --connection: ${names.join(", ")}.`;
  throw new UsageError(`No such connection is configured. ${exist}`);
}

/** Only with a key of the sandbox, and only when the caller asked for it. */
async function allowWrites(
  context: CliContext,
  { yes }: DialectFlags,
  connection: ComplianceConnection | undefined,
): Promise<void> {
  if (connection === undefined) throw new UsageError("--write needs a connection to the Compliance API.");
  const { name, environment } = connection;
  if (environment !== "test") {
    const why = "it would issue a real sale";
    throw new UsageError(
      `--write is refused: the key of connection ${name} is a live key, and ${why}. Use a cmp_sk_test_ key.`,
    );
  }
  if (yes === true) return;
  requireTerminal(context, yes, "--write asks before it writes, and nobody is there to ask. Add --yes.");
  const question = `Issue one sale, one credit note and one stock movement with the test key of connection ${name}?`;
  await confirm(context, question, "Nothing was sent.");
}

async function reportCompliance(around: Surroundings, connection: ComplianceConnection): Promise<DialectReport> {
  const { baseUrl, apiKey, auth, keyReach } = connection;
  const businessId = connection.businessId ?? connection.businesses[0];
  const configured = parseDialect(connection.dialect ?? {}, connection.environment);
  const { config, transport, flags } = around;
  const client = createComplianceClient({
    baseUrl,
    apiKey,
    auth,
    keyReach,
    dialect: configured,
    transport,
    timeoutMs: config.timings.callTimeoutMs,
  });
  const findings: Findings = new Map();
  const prober = proberFor(around.context);
  const probe: ComplianceProbe = { prober, client, configured, keyReach, findings, branches: [] };
  if (businessId !== undefined) probe.businessId = businessId;
  const writes: Write[] = [];
  const onWrite = (write: Write): void => {
    writes.push(write);
    printNote(around.context, writeLine(write));
  };
  const ended = await untilEnd(async () => {
    const items = await probeReads(probe);
    if (flags.write === true)
      await probeWrites(probe, { item: testItem(items, flags.item), number: newNumber(), onWrite });
  });
  const compared = compareDialect(complianceSettings, configured, findings);
  const { name } = connection;
  const about = {
    service: "compliance",
    connection: name,
    variable: "COMPLIANCE_DIALECT",
    calls: prober.calls,
  } as const;
  return { ...about, ...ended, writes, ...compared, fits: compared.fits && ended.failed !== true };
}

async function reportAccounting(around: Surroundings, connection: AccountingConnection): Promise<DialectReport> {
  const { baseUrl, apiKey, clientSecret, name } = connection;
  const { config, transport } = around;
  const configured = parseAccountingDialect(connection.dialect ?? {});
  const findings: Findings = new Map();
  const prober = proberFor(around.context);
  const connect = ({ signedQuery }: { signedQuery: boolean }) =>
    createAccountingClient({
      baseUrl,
      apiKey,
      clientSecret,
      dialect: { ...configured, signature: { ...configured.signature, query: signedQuery } },
      transport,
      timeoutMs: config.timings.callTimeoutMs,
    });
  const isSigned = clientSecret !== undefined;
  const ended = await untilEnd(() => probeAccounting({ prober, connect, isSigned, configured, findings }));
  const compared = compareDialect(accountingSettings, configured, findings);
  const about = {
    service: "accounting",
    connection: name,
    variable: "ACCOUNTING_DIALECT",
    calls: prober.calls,
  } as const;
  return { ...about, ...ended, writes: [], ...compared, fits: compared.fits && ended.failed !== true };
}

function proberFor(context: CliContext): Prober {
  const onWait = (seconds: number): void => printNote(context, `Waiting ${seconds} s for the next window of requests.`);
  return new Prober({ most: MOST_CALLS, signal: context.signal, onWait });
}

/** What was found, and written, until the search ended early is reported all the same. */
async function untilEnd(search: () => Promise<void>): Promise<Pick<DialectReport, "ended" | "failed">> {
  try {
    await search();
    return {};
  } catch (error) {
    if (error instanceof CallsSpentError) return { ended: error.message };
    if (error instanceof CommandFailedError) return { ended: error.message, failed: true };
    throw error;
  }
}

function testItem(items: readonly SeenItem[], id: string | undefined): SeenItem {
  const item = items.find((one) => (id === undefined ? one.fit : one.id === id));
  if (item !== undefined) return item;
  const problem = id === undefined ? "No registered item that is tracked in stock was found" : `There is no item ${id}`;
  throw new CommandFailedError(`${problem}. Nothing was written; name an item with --item.`);
}

/** At most 50 characters with what is added to it, and it says what it is. */
function newNumber(): string {
  return `DIALECT-${nairobiDate(Date.now()).replaceAll("-", "")}-${randomBytes(4).toString("hex")}`;
}
