import { BRANCH_NOT_SENT, branchSentAs } from "../../compliance/index.ts";
import type { Config } from "../../config/index.ts";
import { nairobiTime } from "../../contract/index.ts";
import { valueAt } from "../../http/dialect-settings.ts";
import {
  type Dispute,
  type KeptObservation,
  LedgerUnavailableError,
  type ListedHold,
  misfitOf,
  NewerTablesError,
  type Place,
  type SecondDocument,
} from "../../ledger/index.ts";
import { hasData } from "../../servers/postgres-files.ts";
import { ledgerOf } from "../../worker/ledger-of-config.ts";
import { counted } from "../output.ts";
import { endedLine } from "../sale/list.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

type Connections = Pick<Config, "compliance" | "accounting">;

function onThisHostOnly(names: readonly string[]): string {
  return `the live key of ${counted(names.length, "connection")} (${names.join(", ")}) has its ledger in FISCALFLOW_HOME, which nothing backs up: what was sent is forgotten with this disk`;
}

const MOVE =
  "move it to a PostgreSQL server: fiscalflow ledger move " +
  "(https://github.com/fiscalflow/fiscalflow/blob/main/docs/database.md#from-the-home-to-a-server)";

const RESTORED =
  "workers send nothing that must not be sent twice until you say what it may have lost: fiscalflow ledger restored " +
  "(https://github.com/fiscalflow/fiscalflow/blob/main/docs/database.md#backup-and-restore)";

const UPGRADE =
  "install the fiscalflow that has changed the tables, or a later one, here too: this one can neither read nor write them";

/** What was not seen for so long is over. */
const OBSERVED_WITHIN_DAYS = 7;
/** The reports of its day name it for ever. */
const DISPUTED_WITHIN_DAYS = 30;

/**
 * Whether the database answers, and has its tables, and what it knows that somebody must look at. The product's own is
 * looked at where there is one already: a check does not make it.
 * @param seen what this namespace's workers have seen of it last
 */
export async function checkLedger(config: Connections & Pick<Config, "ledger">, seen?: Place): Promise<Finding[]> {
  const { url, home } = config.ledger;
  const live = url ? [] : config.compliance.filter(({ environment }) => environment === "live");
  const onThisHost = live.length === 0 ? [] : [fault("ledger", onThisHostOnly(live.map(({ name }) => name)), MOVE)];
  if (!url && !hasData(home)) {
    const willBe = `the first worker brings up a PostgreSQL in ${home}, for this host; several hosts share one by LEDGER_URL`;
    return [...onThisHost, ok("ledger", willBe)];
  }
  const ledger = ledgerOf(config);
  try {
    await ledger.ready();
    const misfit = misfitOf(await ledger.place(), seen);
    return [
      ...onThisHost,
      ...(misfit === undefined ? [] : [fault("ledger", `the database ${misfit}`, RESTORED)]),
      ok("ledger", url ? `${new URL(url.reveal()).host} answers` : `the PostgreSQL in ${home} answers`),
      endedFinding(await endedLine(ledger, {})),
      ...branchHoldFindings(await ledger.stock.openBranchHolds(), config),
      ...(await ledger.stock.disputes(DISPUTED_WITHIN_DAYS)).map(disputeFinding),
      ...(await ledger.documents.contradicted(DISPUTED_WITHIN_DAYS)).map(secondDocumentFinding),
      ...observationFindings(await ledger.observations.list(OBSERVED_WITHIN_DAYS), config),
    ];
  } catch (error) {
    if (error instanceof NewerTablesError) return [fault("ledger", error.message, UPGRADE)];
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const todo = "until it is ready, nothing is sent that must not be sent twice; sales wait, and go on by themselves";
    return [fault("ledger", error.message, todo)];
  } finally {
    await ledger.close();
  }
}

/** What is closed needs nobody by itself, and waits until somebody restarts it. */
function endedFinding(line: string | undefined): Finding {
  if (line === undefined) return ok("ended sales", "none is to be restarted");
  return warning("ended sales", line, "see why each ended, and restart it: fiscalflow sale restart");
}

/** Undefined for a connection that is not configured any more. */
function dialectIn<Dialect>(connections: readonly { name: string; dialect: Dialect }[], connection: string) {
  return connections.find(({ name }) => name === connection)?.dialect;
}

/** What holds back the stock movements of a connection; a hold under another dialect than the present one holds nothing. */
export function branchHoldFindings(holds: readonly ListedHold[], config: Connections): Finding[] {
  const isInForce = ({ connection, sentAs }: ListedHold): boolean => {
    const dialect = dialectIn(config.compliance, connection);
    return dialect !== undefined && sentAs !== BRANCH_NOT_SENT && branchSentAs(dialect.stock) === sentAs;
  };
  const todo =
    "check the branch, then acknowledge the unexpected-answer of that movement (fiscalflow sale acknowledge); where it no longer " +
    "waits, retry any held movement with a note (fiscalflow sale retry INVOICE --note TEXT). Or set stock.branch and " +
    "stock.branchBy in COMPLIANCE_DIALECT to what the API takes";
  return holds.filter(isInForce).map(({ connection, businessId, referenceId, asked, answered, heldAtMs }) => {
    const check = `connection ${connection}${businessId === undefined ? "" : `, business ${businessId}`}, stock`;
    const held = `no movement to a named branch is sent since ${nairobiTime(heldAtMs)}`;
    const why = `the answer to ${referenceId} named branch "${answered}" where "${asked}" was asked for`;
    return warning(check, `${held}: ${why}`, todo);
  });
}

/** A movement on which an operator has decided, and of which a late answer of the service says otherwise. */
export function disputeFinding({ connection, businessId, referenceId, atMs, decision, outcome }: Dispute): Finding {
  const service = outcome.kind === "applied" ? `applied (${outcome.movementId})` : "not applied";
  const operator = decision ? (decision.applied ? "applied" : "not applied") : "otherwise";
  const message = `the movement ${referenceId} was decided as ${operator}, and a late answer of ${nairobiTime(atMs)} says ${service}`;
  const todo =
    "compare the movement with the service's journal and correct the stock by hand: the goods may have been moved twice, " +
    "or not at all (https://github.com/fiscalflow/fiscalflow/blob/main/docs/runbook.md)";
  return warning(`connection ${connection}, business ${businessId}, stock`, message, todo);
}

/** A document that was reported where another one of the same number counts. */
export function secondDocumentFinding({ workflowId, recorded, reported, atMs }: SecondDocument): Finding {
  const message = `the document ${recorded} counts, and ${reported} was reported for the same number, last at ${nairobiTime(atMs)}`;
  const todo =
    "look at both in the service's dashboard: if both are signed, reverse the second one there by a credit note";
  return warning(workflowId, message, todo);
}

/** What the workers have seen of the answers; a setting that has changed since has nothing to answer for any more. */
export function observationFindings(observations: readonly KeptObservation[], config: Connections): Finding[] {
  return observations.flatMap((observation) => {
    const { service, connection, businessId, subject, value, message, count, firstSeenAtMs, lastSeenAtMs } =
      observation;
    const isOfCompliance = service === "compliance";
    const dialect = isOfCompliance
      ? dialectIn(config.compliance, connection)
      : dialectIn(config.accounting, connection);
    if (dialect === undefined || (value !== undefined && valueAt(dialect, subject) !== value)) return [];
    const of = `${isOfCompliance ? "" : "accounting "}connection ${connection}`;
    const check = `${of}${businessId === undefined ? "" : `, business ${businessId}`}, answers`;
    const seen = `seen ${counted(count, "time")} since ${nairobiTime(firstSeenAtMs)}, last at ${nairobiTime(lastSeenAtMs)}`;
    return [warning(check, `${message} (${seen})`, todoOf(observation))];
  });
}

function todoOf({ service, kind, subject }: KeptObservation): string {
  if (kind === "odd-row") return "correct the row in the service's dashboard, or ask the provider what the field holds";
  const [name, none] =
    kind === "not-read" ? ["the service's answers use", "to read nothing"] : ["the service takes", "where it has none"];
  const variable = service === "compliance" ? "COMPLIANCE_DIALECT" : "ACCOUNTING_DIALECT";
  return `set ${subject} in ${variable} to the name that ${name}, or to null ${none}`;
}
