import { type Business, type ComplianceClient, operation, parseDialect, redactDeep } from "../../compliance/index.ts";
import type { ComplianceConnection } from "../../config/index.ts";
import { describeBusinesses, listed, reachProblem } from "../../worker/reach-problem.ts";
import { unstatedSaleKey } from "../../worker/unstated-sale-key.ts";
import { answerFindings, clockFindings, fault, type Finding, ok, warning } from "./finding.ts";
import { isNotTheService, judgeProbe, type Probe, runProbe, withTroubleOnce } from "./run-probe.ts";

/** Ids that no service gives out. */
const NO_SUCH_ID = "fiscalflow-doctor-no-such-id";

export interface CheckedConnection {
  findings: Finding[];
  apiCalls: number;
  /** What the key reaches; undefined where that could not be read. */
  businesses?: Business[];
}

/** What a key reaches and may do, by calls that change nothing. */
export async function checkConnection(
  connection: ComplianceConnection,
  client: ComplianceClient,
): Promise<CheckedConnection> {
  const check = `connection ${connection.name}`;
  const findings: Finding[] = [];
  const unstated = unstatedSaleKey(connection);
  if (unstated) findings.push(warning(`${check}, dialect`, unstated.message, unstated.todo));
  let apiCalls = 0;
  const tell = (probe: Probe<unknown>, subject: string, expects: "success" | "not-found"): void => {
    findings.push(judgeProbe(`${check}, ${subject}`, probe, expects));
  };
  const call = async <Data>(run: () => Promise<{ data: Data; meta: Probe<Data>["meta"] }>): Promise<Probe<Data>> => {
    apiCalls += 1;
    return runProbe(run);
  };

  const listing = await call(() => client.listBusinesses());
  if (listing.meta && !isNotTheService(listing)) findings.push(...answerFindings(check, listing.meta));
  tell(listing, "businesses", "success");
  // Whoever is not the service, cannot be reached, or does not know the key, answers the rest the same.
  if (isNotTheService(listing) || (listing.kind === "refused" && listing.status === 401)) {
    return { findings, apiCalls };
  }
  if (listing.meta) findings.push(...clockFindings(check, listing.meta));
  const isTroubled = listing.kind === "refused" && listing.status >= 500;
  if (!isTroubled) findings.push(windowFinding(check, connection, listing));
  const businesses = listing.kind === "success" ? listing.data : undefined;
  if (businesses)
    findings.push(...reachFindings(check, connection, businesses), ...sellerFindings(check, connection, businesses));
  const businessId = connection.businesses[0] ?? businesses?.[0]?.id;
  if (businessId === undefined) {
    const todo = "set COMPLIANCE_BUSINESS_ID or COMPLIANCE_BUSINESSES, or create a business in the dashboard";
    if (businesses) findings.push(fault(check, "no business is known, so nothing else can be probed", todo));
    return { findings, apiCalls };
  }

  const on = { businessId };
  if (parseDialect(connection.dialect ?? {}).identity !== null) {
    const identity = await call(() => client.callNamed("identity", {}, on));
    if (identity.kind === "success")
      findings.push(ok(`${check}, identity`, `the key says: ${excerptOf(identity.data)}`));
    else tell(identity, "identity", "success");
  }
  tell(await call(() => client.listItems(on)), label("listItems", "items"), "success");
  tell(await call(() => client.listPurchases({ pageSize: 1 }, on)), label("listPurchases", "purchases"), "success");
  tell(await call(() => client.getSale(NO_SUCH_ID, on)), label("getSale", "a sale that does not exist"), "not-found");
  tell(
    await call(() => client.retrySale(NO_SUCH_ID, on)),
    label("retrySale", "retry of a sale that does not exist"),
    "not-found",
  );
  tell(
    await call(() => client.registerItem({ itemId: NO_SUCH_ID }, on)),
    label("registerItem", "registration of an item that does not exist"),
    "not-found",
  );
  const unprobed = "stock:write, issuing documents and pulling purchases have no call that changes nothing";
  findings.push(warning(check, `not probed: ${unprobed}`, "the first sale of a stock-tracked item shows it"));
  return { findings: withTroubleOnce(check, findings), apiCalls, ...(businesses && { businesses }) };
}

const MOST_SHOWN = 400;

/**
 * Its shape is not shown, so it is shown as it came, without what a service that echoes its request would put on the
 * screen.
 */
function excerptOf(data: unknown): string {
  const shown = redactDeep(data);
  const text = typeof shown === "string" ? shown : JSON.stringify(shown);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

function label(name: Parameters<typeof operation>[0], subject: string): string {
  const { scope } = operation(name);
  return scope === null ? subject : `${subject} (${scope.name})`;
}

function reachFindings(check: string, connection: ComplianceConnection, businesses: readonly Business[]): Finding[] {
  const reach = `${check}, key`;
  const problem = reachProblem(connection, businesses);
  if (problem) return [fault(reach, problem.message, problem.todo)];
  const kind = connection.keyReach === "business" ? "bound to one business" : "organisation-wide";
  const count = businesses.length === 1 ? "1 business" : `${businesses.length} businesses`;
  const message = `${connection.environment}, ${kind}, reaches ${count}: ${describeBusinesses(businesses)}`;
  return [ok(reach, message), ...configuredFindings(check, connection, businesses)];
}

/** Of an organisation-wide key that reaches what is configured: what is served, and what has no Schedules. */
function configuredFindings(name: string, connection: ComplianceConnection, reached: readonly Business[]): Finding[] {
  const check = `${name}, businesses`;
  const { keyReach, businessId, businesses: configured, servedBusinesses } = connection;
  if (keyReach === "business") return [];
  const named = configured.map((id) => (id === businessId ? `${id} (default)` : id));
  const leftOut = reached.map(({ id }) => id).filter((id) => !configured.includes(id));
  if (servedBusinesses !== "any") {
    if (leftOut.length === 0) return configured.length === 1 ? [] : [ok(check, `served: ${listed(named)}`)];
    return [ok(check, `served: ${listed(named)}; refused: ${listed(leftOut)}`)];
  }
  const message = `any is served; with Schedules: ${listed(named) || "none"}`;
  if (leftOut.length === 0) return [ok(check, message)];
  const todo =
    "name those in COMPLIANCE_BUSINESSES, beside *, whose purchases and reconciliation are to run by themselves";
  return [warning(check, `${message}; without: ${listed(leftOut)}`, todo)];
}

/** Who is stated for a business of another id heads no report and no receipt, and nothing else would say so. */
function sellerFindings(name: string, connection: ComplianceConnection, reached: readonly Business[]): Finding[] {
  const { businesses: configured, servedBusinesses, sellers } = connection;
  const known = servedBusinesses === "any" ? [...new Set([...configured, ...reached.map(({ id }) => id)])] : configured;
  const strange = Object.keys(sellers).filter((id) => !known.includes(id));
  if (strange.length === 0) return [];
  const message = `the setting sellers names ${listed(strange)}, for which this connection does not work`;
  return [warning(`${name}, sellers`, message, `correct the id; this connection works for ${listed(known)}`)];
}

/**
 * The request window of the application, from the headers of a call that is made anyway (Fiscal Compliance API,
 * "Limits").
 */
function windowFinding(name: string, { application }: ComplianceConnection, { meta }: Probe<unknown>): Finding {
  const check = `${name}, request budget`;
  if (!meta?.rateLimit) {
    const todo = "the worker keeps to FISCALFLOW_TIMING_FALLBACK_LIMIT_PER_MINUTE then";
    return warning(check, "the answer tells no limit", todo);
  }
  const { limit, remaining, resetSeconds } = meta.rateLimit;
  const message = `application ${application}: ${remaining} of ${limit} requests left, the window ends in ${resetSeconds} s`;
  if (remaining > 0) return ok(check, message);
  return warning(
    check,
    message,
    "calls wait for the next window; if that is so most of the time, see https://github.com/fiscalflow/fiscalflow/blob/main/docs/budget.md",
  );
}
