import { type AccountingClient, type AccountingDialect } from "../../accounting/index.ts";
import { candidatesFor } from "../../dialect/candidates.ts";
import type { Findings } from "../../dialect/compare.ts";
import { fieldsOf, findList, rowsIn } from "../../dialect/find-in-answers.ts";
import { valueAt } from "../../dialect/settings.ts";
import { CommandFailedError } from "../cli-error.ts";
import { found, NO_SUCH_ID, NO_SUCH_NAME } from "./compliance-probe.ts";
import { findingOf, findName, type NameSearch, type Verdict } from "./find-name.ts";
import type { Answer, Prober } from "./prober.ts";

export interface AccountingProbe {
  prober: Prober;
  /** Signed with or without the query; the same where there is no client secret. */
  connect: (how: { signedQuery: boolean }) => AccountingClient;
  isSigned: boolean;
  configured: AccountingDialect;
  findings: Findings;
}

const UNAUTHORIZED = 401;

/**
 * Everything that harmless calls show of the Accounting Service; nothing is written. @throws CommandFailedError where
 * the key is refused
 */
export async function probeAccounting(probe: AccountingProbe): Promise<void> {
  const { findings, configured } = probe;
  const companies = await read(probe, configured.signature.query, "listCompanies");
  if (companies.kind === "refused" && companies.status === UNAUTHORIZED) {
    const which = probe.isSigned ? "the key, or the signature: ACCOUNTING_CLIENT_SECRET, and the clock" : "the key";
    throw new CommandFailedError(`The Accounting Service answers 401. Check ${which}.`);
  }
  const list = companies.kind === "ok" ? findList(companies.body) : undefined;
  if (list !== undefined) findings.set("companies.list", found(list.name, "found in the answer by its content"));

  const signedQuery = await probeSignature(probe);
  if (signedQuery !== undefined) await probeBillPayments(probe, signedQuery);
}

/**
 * A query that is signed otherwise than the service expects is answered 401. @returns undefined where neither way is
 * accepted
 */
async function probeSignature(probe: AccountingProbe): Promise<boolean | undefined> {
  const { findings, configured } = probe;
  const now = configured.signature.query;
  const isAccepted = async (signedQuery: boolean): Promise<boolean> => {
    const answer = await read(probe, signedQuery, "listBillPayments", { [configured.billPayments.limit]: "1" });
    return answer.kind === "ok" || (answer.kind === "refused" && answer.status !== UNAUTHORIZED);
  };
  if (!probe.isSigned) {
    findings.set("signature.query", found(now, "not needed: requests are not signed"));
    return now;
  }
  if (await isAccepted(now)) {
    findings.set("signature.query", found(now, "a signed request with a query is accepted"));
    return now;
  }
  if (await isAccepted(!now)) {
    findings.set("signature.query", found(!now, "a signed request with a query is answered 401 the other way"));
    return !now;
  }
  const evidence = "a signed request with a query is answered 401 either way";
  findings.set("signature.query", { kind: "open", evidence });
  return undefined;
}

interface Page {
  rows: readonly Readonly<Record<string, unknown>>[];
  total: unknown;
  page: unknown;
  limit: unknown;
}

async function probeBillPayments(probe: AccountingProbe, signedQuery: boolean): Promise<void> {
  const list = (query: Readonly<Record<string, string>>): Promise<Answer> =>
    read(probe, signedQuery, "listBillPayments", query);
  const first = await list({});
  if (first.kind !== "ok") return;
  const whole = pageOf(first);
  const strict = verdictOf(await list({ [NO_SUCH_NAME]: "1" })) === "refused";
  const taken: string[] = [];
  const search = async (
    name: keyof AccountingDialect["billPayments"],
    how: Pick<NameSearch, "valid" | "invalid" | "shows"> & { fixed?: Readonly<Record<string, string>> },
  ): Promise<string | undefined> => {
    const { fixed = {}, ...rest } = how;
    const path = `billPayments.${name}`;
    const now = valueAt(probe.configured, path);
    const result = await findName({
      candidates: candidatesFor(path, now).filter((one) => !taken.includes(one)),
      send: (candidate, value) => list({ ...fixed, [candidate]: String(value) }),
      verdictOf,
      strict,
      ...rest,
    });
    probe.findings.set(path, findingOf(now, result));
    if (result.found) taken.push(result.found.name);
    return result.found?.name;
  };
  const echoes = (key: "page" | "limit", wanted: number) => (answer: Answer) => {
    const echoed = pageOf(answer)[key];
    return typeof echoed === "number" ? echoed === wanted : undefined;
  };
  /** A filter that is taken leaves fewer; one that leaves all may have been ignored. */
  const narrows = (answer: Answer): true | undefined =>
    Number(pageOf(answer).total) < Number(whole.total) ? true : undefined;

  const limit = await search("limit", { valid: ["1"], invalid: "101", shows: echoes("limit", 1) });
  const fixed: Readonly<Record<string, string>> = limit === undefined ? {} : { [limit]: "1" };
  await search("page", { fixed, valid: ["2"], invalid: "no-page", shows: echoes("page", 2) });
  await search("status", { valid: ["failed"], invalid: NO_SUCH_ID, shows: narrows });
  await search("paymentMethod", { valid: ["other"], invalid: NO_SUCH_ID, shows: narrows });
  const isInAnyOrder = (amounts: readonly number[]): boolean => isRising(amounts) || isRising(amounts.toReversed());
  const sortBy = await search("sortBy", {
    valid: ["totalAmount"],
    invalid: NO_SUCH_ID,
    // Rows that happen to be in order before tell nothing.
    shows: (answer) => (isInAnyOrder(amountsOf(whole)) ? undefined : isInAnyOrder(amountsOf(pageOf(answer)))),
  });
  if (sortBy === undefined) return;
  const sorted = { [sortBy]: "totalAmount" };
  const isRisingByItself = isRising(amountsOf(pageOf(await list(sorted))));
  await search("sortDirection", {
    fixed: sorted,
    valid: [isRisingByItself ? "desc" : "asc"],
    invalid: NO_SUCH_ID,
    shows: (answer) => {
      const amounts = amountsOf(pageOf(answer));
      if (new Set(amounts).size < 2) return undefined;
      return isRising(isRisingByItself ? amounts.toReversed() : amounts);
    },
  });
}

function amountsOf({ rows }: Page): number[] {
  return rows.flatMap(({ totalAmount }) => (typeof totalAmount === "number" ? [totalAmount] : []));
}

function isRising(amounts: readonly number[]): boolean {
  return amounts.every((amount, at) => at === 0 || amount >= (amounts[at - 1] ?? amount));
}

function pageOf(answer: Answer): Page {
  const { data, total, page, limit } = answer.kind === "ok" ? fieldsOf(answer.body) : {};
  return { rows: rowsIn(data), total, page, limit };
}

function read(
  probe: AccountingProbe,
  signedQuery: boolean,
  name: "listCompanies" | "listBillPayments",
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return probe.prober.call((signal) => probe.connect({ signedQuery }).read(name, query, { signal }));
}

function verdictOf(answer: Answer): Verdict {
  if (answer.kind === "ok") return "taken";
  return answer.kind === "refused" && answer.status === 400 ? "refused" : "other";
}
