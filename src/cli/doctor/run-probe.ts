import { type AnswerMeta, ComplianceApiError, UnexpectedAnswerError } from "../../compliance/index.ts";
import { TransportError } from "../../http/errors.ts";
import { tlsTroubleOf } from "../../http/tls-trouble.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

/** How one harmless call ended. */
export type Probe<Data> = { meta?: AnswerMeta } & (
  | { kind: "success"; data: Data }
  | { kind: "refused"; status: number; envelope: boolean; message: string }
  | { kind: "unexpected"; message: string; json: boolean }
  | { kind: "unreachable"; message: string; error: TransportError }
);

export async function runProbe<Data>(
  run: () => Promise<{ data: Data; meta?: AnswerMeta | undefined }>,
): Promise<Probe<Data>> {
  try {
    const { data, meta } = await run();
    return { kind: "success", data, ...(meta && { meta }) };
  } catch (error) {
    if (error instanceof ComplianceApiError) {
      const { status, envelope, message, meta } = error;
      return { kind: "refused", status, envelope, message, meta };
    }
    if (error instanceof UnexpectedAnswerError) {
      const { message, bodyExcerpt, meta } = error;
      return { kind: "unexpected", message, json: /^\s*[[{]/.test(bodyExcerpt), meta };
    }
    if (error instanceof TransportError) return { kind: "unreachable", message: error.message, error };
    throw error;
  }
}

/** @param setting the base URL's */
export function reachAdvice(setting: string, { cause }: TransportError): string {
  return tlsTroubleOf(cause) === "untrusted"
    ? `check ${setting}; where a CA of your own issues the certificate, NODE_EXTRA_CA_CERTS names its file`
    : `check ${setting}, and the way from here to it`;
}

/** Whether something else than the service answers, or nothing does: then every other call ends the same way. */
export function isNotTheService(probe: Probe<unknown>): boolean {
  if (probe.kind === "unreachable") return true;
  return probe.kind === "refused" ? !probe.envelope : probe.kind === "unexpected" && !probe.json;
}

const TROUBLE_OF_ITS_OWN = "the API has a trouble of its own: run doctor again later; if it lasts, ask the provider";

/** One fault for all calls that the service could not answer: they have one cause. */
export function withTroubleOnce(name: string, findings: readonly Finding[]): Finding[] {
  const troubled = findings.filter(({ todo }) => todo === TROUBLE_OF_ITS_OWN);
  const [first] = troubled;
  if (!first || troubled.length === 1) return [...findings];
  const subjects = troubled.map(({ check }) => check.replace(`${name}, `, "")).join(", ");
  const once = fault(name, `${troubled.length} calls failed (${subjects}): ${first.message}`, TROUBLE_OF_ITS_OWN);
  return findings.flatMap((finding) => (finding === first ? [once] : troubled.includes(finding) ? [] : [finding]));
}

const NOT_THE_SERVICE = "something else than the API answers: check COMPLIANCE_BASE_URL";

/**
 * What the end of a call says of the key. A write on an id that does not exist must be answered 404: 403 comes first.
 */
export function judgeProbe(check: string, probe: Probe<unknown>, expects: "success" | "not-found"): Finding {
  if (probe.kind === "unreachable") {
    return fault(check, probe.message, reachAdvice("COMPLIANCE_BASE_URL", probe.error));
  }
  if (probe.kind === "unexpected") {
    const todo = probe.json
      ? "the dialect may have other names than this service: see COMPLIANCE_DIALECT"
      : NOT_THE_SERVICE;
    return fault(check, probe.message, todo);
  }
  if (probe.kind === "success") {
    return expects === "success" ? ok(check, "allowed") : warning(check, "answered as if it existed");
  }
  const { status, envelope, message } = probe;
  if (!envelope) {
    return fault(check, message, NOT_THE_SERVICE);
  }
  if (status === 404) {
    if (expects === "not-found") return ok(check, "allowed");
    return fault(check, message, "the business is not there for this key: check COMPLIANCE_BUSINESS_ID");
  }
  if (status === 401) return fault(check, message, "make a new key in the dashboard, or check its application");
  if (status === 403) return fault(check, message, "give the key what it lacks in the dashboard, or use another one");
  if (status === 429) return warning(check, message, "the minute's requests are used up: run doctor again in a minute");
  if (status === 400) {
    const todo =
      "check COMPLIANCE_KEY_REACH (is the key organisation-wide, or bound to one business?) and COMPLIANCE_DIALECT";
    return fault(check, message, todo);
  }
  if (status >= 500) return fault(check, message, TROUBLE_OF_ITS_OWN);
  return warning(
    check,
    message,
    "the API gives an answer that its documentation does not name: run doctor again later",
  );
}
