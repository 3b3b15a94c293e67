import type {
  ComplianceClient,
  ComplianceDialect,
  KeyReach,
  OutgoingRequest,
  ShownOperation,
} from "../../compliance/index.ts";
import { candidatesFor } from "../../dialect/candidates.ts";
import type { Finding, Findings } from "../../dialect/compare.ts";
import type { SeenBranch } from "../../dialect/find-in-answers.ts";
import { valueAt } from "../../dialect/settings.ts";
import type { Answer, Prober } from "./prober.ts";

/** Ids that no service gives out. */
export const NO_SUCH_ID = "fiscalflow-dialect-no-such-id";
/** A name that no service knows: whether it is refused tells how the service takes unknown names. */
export const NO_SUCH_NAME = "fiscalflowNoSuchName";

/** A place that `businessId` can have. */
export type Place = "query" | "body";

/** What every step of the search has. Steps add to the findings. */
export interface ComplianceProbe {
  prober: Prober;
  client: ComplianceClient;
  configured: ComplianceDialect;
  keyReach: KeyReach;
  findings: Findings;
  /** The business that the calls are made for; undefined until one is known. */
  businessId?: string;
  /** Its branches, as the answers show them. */
  branches: SeenBranch[];
}

export type FieldsOfRequest = Readonly<Record<string, unknown>>;

/** One call, with the business in its place. */
export async function send(
  probe: ComplianceProbe,
  operation: ShownOperation,
  request: OutgoingRequest & { body?: FieldsOfRequest | undefined; place?: Place | undefined },
): Promise<Answer> {
  const { body, place = "query", query = {}, ...rest } = request;
  const business: Record<string, string> =
    probe.keyReach === "organisation" && probe.businessId !== undefined ? { businessId: probe.businessId } : {};
  const whole = place === "body" ? { ...business, ...body } : body;
  return probe.prober.call((signal) =>
    probe.client.send(
      operation,
      {
        ...rest,
        query: place === "query" ? { ...business, ...query } : query,
        bodyJson: whole === undefined ? undefined : JSON.stringify(whole),
      },
      { signal },
    ),
  );
}

/** The candidates of a setting, without the names that other settings of the same request have. */
export function candidates(
  probe: ComplianceProbe,
  path: string,
  taken: readonly (string | undefined)[] = [],
): string[] {
  return candidatesFor(path, valueAt(probe.configured, path)).filter((name) => !taken.includes(name));
}

/** The name that was found for a setting. */
export function foundName({ findings }: ComplianceProbe, path: string): string | undefined {
  const finding = findings.get(path);
  return finding?.kind === "found" && typeof finding.value === "string" ? finding.value : undefined;
}

/**
 * Finds the place of `businessId`: in the right one the request gets as far as `reaches` says.
 * @returns the last answer; a wrong place was refused with 400 and had no effect
 */
export async function findPlace(
  probe: ComplianceProbe,
  path: string,
  attempt: (place: Place) => Promise<Answer>,
  reaches: (answer: Answer) => boolean,
): Promise<{ place: Place; answer: Answer }> {
  const configured: Place = valueAt(probe.configured, path) === "body" ? "body" : "query";
  const first = await attempt(configured);
  if (probe.keyReach === "business") {
    const evidence = "not sent: the key is bound to one business";
    probe.findings.set(path, { kind: "found", value: configured, evidence });
    return { place: configured, answer: first };
  }
  if (reaches(first)) {
    probe.findings.set(path, { kind: "found", value: configured, evidence: "the business is understood there" });
    return { place: configured, answer: first };
  }
  // Anything but a refused body is not about the place, or has had an effect: nothing is tried after it.
  if (first.kind !== "refused" || first.status !== 400) return { place: configured, answer: first };
  const other: Place = configured === "body" ? "query" : "body";
  const second = await attempt(other);
  if (!reaches(second)) return { place: configured, answer: second.kind === "refused" ? first : second };
  const evidence = `the request is refused with businessId in the ${configured}, and understood with it in the ${other}`;
  probe.findings.set(path, { kind: "found", value: other, evidence });
  return { place: other, answer: second };
}

export function found(value: unknown, evidence: string): Finding {
  return { kind: "found", value, evidence };
}
