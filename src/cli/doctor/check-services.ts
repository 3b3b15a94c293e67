import { type AccountingClient, createAccountingClient } from "../../accounting/index.ts";
import {
  type Business,
  ComplianceApiError,
  type ComplianceClient,
  createComplianceClient,
} from "../../compliance/index.ts";
import { type AccountingConnection, type ComplianceConnection, type Config, sharedBy } from "../../config/index.ts";
import { TransportError } from "../../http/errors.ts";
import { AnswerError, type AnswerMeta, UnexpectedAnswerError } from "../../http/service-call.ts";
import type { RateLimit } from "../../http/quota-headers.ts";
import { tlsTroubleOf } from "../../http/tls-trouble.ts";
import { createDispatchers, createTransport } from "../../http/transport.ts";
import { describeBusinesses, firstFew, reachProblem, unstatedSaleKey } from "../../worker/check-connection.ts";
import { counted } from "../output.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

const CALL_MS = 10_000;
const ASK_LATER = "run doctor again later; if it lasts, ask the provider";

/** One call for each connection, which changes nothing, and which its key must be able to make. */
export async function checkServices(
  { compliance, accounting, timings }: Config,
  add: (...found: Finding[]) => void,
): Promise<void> {
  const dispatchers = createDispatchers();
  const how = { transport: createTransport(dispatchers), timeoutMs: Math.min(timings.callTimeoutMs, CALL_MS) };
  try {
    const reaches: Reach[] = [];
    for (const connection of compliance) {
      const client = createComplianceClient({ ...how, ...connection });
      const { findings, businesses } = await checkConnection(connection, client);
      add(...findings);
      if (businesses) reaches.push({ connection, businesses });
    }
    add(...checkOverlaps(reaches));
    for (const connection of accounting) {
      add(...(await checkAccounting(connection, createAccountingClient({ ...how, ...connection }))));
    }
  } finally {
    await dispatchers.close();
  }
}

/** GET /v1/businesses. @returns also what the key reaches, if that could be read */
export async function checkConnection(
  connection: ComplianceConnection,
  client: ComplianceClient,
): Promise<{ findings: Finding[]; businesses?: Business[] }> {
  const check = `connection ${connection.name}`;
  const unstated = unstatedSaleKey(connection);
  const findings = unstated ? [warning(`${check}, dialect`, unstated.message, unstated.todo)] : [];
  try {
    const { data: businesses, meta } = await client.listBusinesses();
    findings.push(
      ...answerFindings(check, meta),
      windowFinding(`${check}, request budget`, connection.application, meta.rateLimit),
      ...reachFindings(check, connection, businesses),
      ...sellerFindings(`${check}, sellers`, connection, businesses),
    );
    return { findings, businesses };
  } catch (error) {
    return { findings: [...findings, ...troubleFindings(check, error, COMPLIANCE)] };
  }
}

/** GET /bill-payments, which the synchronisation makes too; signed if a client secret is configured. */
export async function checkAccounting(
  { name, environment, clientSecret }: AccountingConnection,
  client: AccountingClient,
): Promise<Finding[]> {
  const check = `accounting ${name}`;
  try {
    const { data, meta } = await client.listBillPayments({ limit: 1 });
    const signed = clientSecret === undefined ? "not signed" : "signed";
    const message = `${environment}, ${signed}, reaches ${data.total} bill payments`;
    return [...answerFindings(check, meta), ok(`${check}, key`, message)];
  } catch (error) {
    return troubleFindings(check, error, ACCOUNTING);
  }
}

interface ServiceAdvice {
  baseUrl: string;
  byStatus: Readonly<Record<number, string>>;
  otherwise: string;
}

const COMPLIANCE: ServiceAdvice = {
  baseUrl: "COMPLIANCE_BASE_URL",
  byStatus: {
    400: "check COMPLIANCE_KEY_REACH (is the key organisation-wide, or bound to one business?) and COMPLIANCE_DIALECT",
    401: "see in the dashboard whether the key is active and of this environment, or make a new one there, and give it to COMPLIANCE_API_KEY",
    403: "give the key what it lacks in the dashboard, or use another one",
    429: "the minute's requests are used up: run doctor again in a minute",
  },
  otherwise: "the dialect may have other names than this service: run `fiscalflow dialect`",
};
const ACCOUNTING: ServiceAdvice = {
  baseUrl: "ACCOUNTING_BASE_URL",
  byStatus: {
    401: "make a new key in the dashboard, or see there whether its application is active; where a client secret is configured, it must be of the same application, this clock right, and signature.query of the dialect too",
    403: "authorize the key for it in the dashboard, or use another key",
    404: "check ACCOUNTING_BASE_URL: paths have no version prefix",
    429: "the accounting service limits requests: run doctor again later",
  },
  otherwise: "check ACCOUNTING_BASE_URL, and the names in ACCOUNTING_DIALECT",
};

/** What the end of a call says of the key, the configuration or the service. @throws what is none of it */
function troubleFindings(name: string, error: unknown, { baseUrl, byStatus, otherwise }: ServiceAdvice): Finding[] {
  const check = `${name}, key`;
  if (error instanceof TransportError) {
    const ca = "; where a CA of your own issues the certificate, NODE_EXTRA_CA_CERTS names its file";
    const isUntrusted = tlsTroubleOf(error.cause) === "untrusted";
    return [fault(check, error.message, `check ${baseUrl}${isUntrusted ? ca : ", and the way from here to it"}`)];
  }
  if (!(error instanceof AnswerError)) throw error;
  const { status, message } = error;
  const isForeign =
    (error instanceof ComplianceApiError && !error.envelope) ||
    (error instanceof UnexpectedAnswerError && !/^\s*[[{]/.test(error.bodyExcerpt));
  if (isForeign && status < 500)
    return [fault(check, message, `something else than the API answers: check ${baseUrl}`)];
  const todo = status >= 500 ? ASK_LATER : (byStatus[status] ?? otherwise);
  const finding = status === 429 ? warning : fault;
  return [...answerFindings(name, error.meta), finding(check, message, todo)];
}

/** Further off, and dates are wrong around midnight; 300 s off, and the accounting service refuses signatures. */
const CLOCK_TOLERANCE_MS = 30_000;
/** An answer that takes longer than this makes tills wait. */
const SLOW_ANSWER_MS = 2_500;

/** How soon a service has answered, whatever the answer was, and whether its clock is like ours. */
function answerFindings(check: string, { requestSentAtMs, answeredAtMs, serverDateMs = answeredAtMs }: AnswerMeta) {
  const tookMs = Math.max(0, answeredAtMs - requestSentAtMs);
  const answered = `reachable; it answered in ${tookMs} ms`;
  const service = `${check}, service`;
  const aheadMs = answeredAtMs - serverDateMs;
  const off = `this clock is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"} the service's`;
  const clock = warning(`${check}, clock`, off, "let this host take its time from the network");
  return [
    tookMs > SLOW_ANSWER_MS ? warning(service, `${answered}: it is slow`, ASK_LATER) : ok(service, answered),
    ...(Math.abs(aheadMs) > CLOCK_TOLERANCE_MS ? [clock] : []),
  ];
}

function reachFindings(check: string, connection: ComplianceConnection, businesses: readonly Business[]): Finding[] {
  const problem = reachProblem(connection, businesses);
  if (problem) return [fault(`${check}, key`, problem.message, problem.todo)];
  const kind = connection.keyReach === "business" ? "bound to one business" : "organisation-wide";
  const count = counted(businesses.length, "business", "businesses");
  const message = `${connection.environment}, ${kind}, reaches ${count}: ${describeBusinesses(businesses)}`;
  return [ok(`${check}, key`, message), ...servedFindings(`${check}, businesses`, connection, businesses)];
}

/** Of an organisation-wide key that reaches what is configured: what is served, and what has no Schedules. */
function servedFindings(check: string, connection: ComplianceConnection, reached: readonly Business[]): Finding[] {
  const { keyReach, businessId, businesses: configured, servedBusinesses } = connection;
  if (keyReach === "business") return [];
  const named = firstFew(configured.map((id) => (id === businessId ? `${id} (default)` : id)));
  const others = firstFew(reached.map(({ id }) => id).filter((id) => !configured.includes(id)));
  const isAny = servedBusinesses === "any";
  if (!isAny && configured.length === 1 && others === "") return [];
  const [served, notServed] = isAny ? ["any is served; with Schedules", "without"] : ["served", "refused"];
  const message = `${served}: ${named || "none"}${others && `; ${notServed}: ${others}`}`;
  if (!isAny || others === "") return [ok(check, message)];
  const todo =
    "name those in COMPLIANCE_BUSINESSES, beside *, whose purchases and reconciliation are to run by themselves";
  return [warning(check, message, todo)];
}

/** Who is stated for a business of another id heads no report and no receipt, and nothing else would say so. */
function sellerFindings(check: string, connection: ComplianceConnection, reached: readonly Business[]): Finding[] {
  const { businesses: configured, servedBusinesses, sellers } = connection;
  const known = servedBusinesses === "any" ? [...new Set([...configured, ...reached.map(({ id }) => id)])] : configured;
  const strange = Object.keys(sellers).filter((id) => !known.includes(id));
  if (strange.length === 0) return [];
  const message = `the setting sellers names ${firstFew(strange)}, for which this connection does not work`;
  return [warning(check, message, `correct the id; this connection works for ${firstFew(known)}`)];
}

/** The request window of the application, from the headers of the answer (Fiscal Compliance API, "Limits"). */
function windowFinding(check: string, application: string, window: RateLimit | undefined): Finding {
  const fallback = "the worker keeps to FISCALFLOW_TIMING_FALLBACK_LIMIT_PER_MINUTE then";
  if (!window) return warning(check, "the answer tells no limit", fallback);
  const { limit, remaining, resetSeconds } = window;
  const left = `${remaining} of ${limit} requests left, the window ends in ${resetSeconds} s`;
  const message = `application ${application}: ${left}`;
  if (remaining > 0) return ok(check, message);
  const page = "https://github.com/fiscalflow/fiscalflow/blob/main/docs/budget.md";
  return warning(check, message, `calls wait for the next window; if that is so most of the time, see ${page}`);
}

export interface Reach {
  connection: ComplianceConnection;
  businesses: readonly Business[];
}

/** Through two connections, one invoice number of a business would become two documents. */
export function checkOverlaps(reaches: readonly Reach[]): Finding[] {
  const baseUrls = [...new Set(reaches.map(({ connection }) => connection.baseUrl))];
  return baseUrls.flatMap((baseUrl) => {
    const atOneUrl = reaches.filter(({ connection }) => connection.baseUrl === baseUrl);
    const served = sharedBy(atOneUrl, servedIds);
    const servedTwice = new Set(served.flatMap(({ things }) => things));
    const reached = sharedBy(atOneUrl, (reach) => reachedIds(reach).filter((id) => !servedTwice.has(id)));
    return [
      ...served.map(({ things, owners }) => {
        const anyServed = owners.filter(({ connection }) => connection.servedBusinesses === "any");
        const where = firstFew(anyServed.map(({ connection }) => connection.name));
        const todo = `replace * in the setting businesses (COMPLIANCE_BUSINESSES) of ${where} by the businesses that no other connection is to serve`;
        return fault(...overlap(things, owners), todo);
      }),
      ...reached.map(({ things, owners }) => {
        const todo =
          "use one connection for each business: keep one of the keys, or keys that are bound to one business";
        return warning(...overlap(things, owners), todo);
      }),
    ];
  });
}

function reachedIds({ businesses }: Reach): string[] {
  return businesses.map(({ id }) => id);
}

/** Those that the connection issues documents for. */
function servedIds(reach: Reach): string[] {
  const { servedBusinesses } = reach.connection;
  return reachedIds(reach).filter((id) => servedBusinesses === "any" || servedBusinesses.includes(id));
}

function overlap(things: readonly string[], owners: readonly Reach[]): [check: string, message: string] {
  const names = owners.map(({ connection }) => connection.name);
  const [which, keys] = names.length === 2 ? [names.join(" and "), "both keys"] : [firstFew(names), "all these keys"];
  const message = `${keys} reach ${firstFew(things)}: one invoice number sent through two of them becomes two documents`;
  return [`connections ${which}`, message];
}
