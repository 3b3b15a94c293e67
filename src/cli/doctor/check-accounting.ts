import {
  AccountingApiError,
  type AccountingClient,
  AccountingForbiddenError,
  type AccountingResult,
  AccountingUnauthorizedError,
  AccountingUnexpectedAnswerError,
} from "../../accounting/index.ts";
import type { AccountingConnection } from "../../config/index.ts";
import { TransportError } from "../../http/errors.ts";
import { answerFindings, clockFindings, fault, type Finding, ok, warning } from "./finding.ts";
import { reachAdvice } from "./run-probe.ts";

/** Accounting Service, "Limits": the timestamp of a signed request. */
const SIGNATURE_TOLERANCE_MS = 5 * 60_000;

const FIX_KEY = "make a new key in the dashboard, or see there whether its application is active";
const FIX_CLOCK = "let this host take its time from the network";

type Failure = AccountingApiError | AccountingUnexpectedAnswerError | TransportError;

/**
 * What a key of the accounting service may do, by calls that change nothing: the document's sample call, which tells
 * whether the key (and the signature, where one is configured) is accepted, and one bill payment.
 *
 * @param connect makes a client of the connection, signing or not
 */
export async function checkAccounting(
  connection: AccountingConnection,
  connect: (how: { signed: boolean }) => AccountingClient,
): Promise<{ findings: Finding[]; calls: number }> {
  const check = `accounting ${connection.name}`;
  const signed = connection.clientSecret !== undefined;
  const client = connect({ signed });
  const findings: Finding[] = [];
  let calls = 0;
  const call = async <Data>(run: () => Promise<AccountingResult<Data>>): Promise<AccountingResult<Data> | Failure> => {
    calls += 1;
    return failureOr(run);
  };

  const companies = await call(() => client.listCompanies());
  if ("meta" in companies && companies.meta) findings.push(...answerFindings(check, companies.meta));
  if (companies instanceof AccountingUnauthorizedError && signed) {
    const alone = await call(() => connect({ signed: false }).listCompanies());
    findings.push(judgeSignature(`${check}, key`, companies, !(alone instanceof Error)));
  } else {
    findings.push(judgeKey(`${check}, key`, companies, `${connection.environment}, ${signed ? "" : "not "}signed`));
  }
  // Whoever cannot be reached, or does not know the key, answers the rest the same.
  if (companies instanceof TransportError || companies instanceof AccountingUnauthorizedError) {
    return { findings, calls };
  }
  findings.push(...clockFindings(check, companies.meta));
  const payments = await call(() => client.listBillPayments({ limit: 1 }));
  findings.push(
    payments instanceof Error
      ? judgeFailure(`${check}, bill payments`, payments)
      : ok(`${check}, bill payments`, `allowed; the accounting service lists ${payments.data.total}`),
  );
  const unprobed = "not probed: processing a sync batch has no call that changes nothing";
  findings.push(warning(check, unprobed, "the first batch shows it"));
  return { findings, calls };
}

async function failureOr<Result>(run: () => Promise<Result>): Promise<Result | Failure> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AccountingApiError || error instanceof AccountingUnexpectedAnswerError) return error;
    if (error instanceof TransportError) return error;
    throw error;
  }
}

function judgeKey(check: string, companies: AccountingResult<unknown[]> | Failure, standing: string): Finding {
  if (!(companies instanceof Error)) {
    const count = companies.data.length;
    return ok(check, `${standing}, reaches ${count} ${count === 1 ? "company" : "companies"}`);
  }
  // The document does not show the list of companies, and nothing but this check reads it.
  if (companies instanceof AccountingUnexpectedAnswerError) {
    const todo = "where it lists them is said by `companies.list` of the dialect: see ACCOUNTING_DIALECT";
    return warning(check, `${standing}; ${companies.message}`, todo);
  }
  return judgeFailure(check, companies);
}

/**
 * A 401 to a signed call says nothing of which it was ("Errors"); the same call without a signature does, since the key
 * alone authenticates then ("Authentication", 2).
 */
function judgeSignature(check: string, refused: AccountingUnauthorizedError, keyAlone: boolean): Finding {
  const { clockAheadMs = 0, message } = refused;
  const clockIsOff = Math.abs(clockAheadMs) > SIGNATURE_TOLERANCE_MS;
  if (!keyAlone) return fault(check, message, clockIsOff ? `${FIX_CLOCK}; then ${FIX_KEY}` : FIX_KEY);
  const accepted = "without a signature the key is accepted, and with one it is refused";
  if (!clockIsOff) {
    const todo = "check ACCOUNTING_CLIENT_SECRET: it must be of the same application as the key";
    return fault(check, accepted, todo);
  }
  const seconds = Math.round(Math.abs(clockAheadMs) / 1_000);
  const off = `this clock is ${seconds} s ${clockAheadMs > 0 ? "ahead of" : "behind"} the accounting service's, and 300 s are allowed`;
  return fault(check, `${accepted}: ${off}`, FIX_CLOCK);
}

function judgeFailure(check: string, failure: Failure): Finding {
  const { message } = failure;
  if (failure instanceof TransportError) {
    return fault(check, message, reachAdvice("ACCOUNTING_BASE_URL", failure));
  }
  if (failure instanceof AccountingUnexpectedAnswerError) {
    return fault(
      check,
      message,
      "check ACCOUNTING_BASE_URL: something else than the accounting service may answer there",
    );
  }
  const { status } = failure;
  if (failure instanceof AccountingUnauthorizedError) return fault(check, message, FIX_KEY);
  if (failure instanceof AccountingForbiddenError) {
    return fault(check, message, "authorize the key for it in the dashboard, or use another key");
  }
  if (status === 404) return fault(check, message, "check ACCOUNTING_BASE_URL: paths have no version prefix");
  if (status === 429) return warning(check, message, "the accounting service limits requests: run doctor again later");
  if (status < 500) {
    return fault(check, message, "the dialect may have other names than this service: see ACCOUNTING_DIALECT");
  }
  const todo = "the accounting service has a trouble of its own: run doctor again later; if it lasts, ask the provider";
  return fault(check, message, todo);
}
