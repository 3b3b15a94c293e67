import type {
  BillPaymentsProgress,
  BillPaymentStatus,
  PreparedBillPaymentsSync,
  Refusal,
} from "../../src/contract/index.ts";
import type { AccountingCalls } from "../proxies.ts";
import type { Job } from "../job/job.ts";
import { callWithEscalation } from "../calls/tries.ts";

/**
 * Whether the service gives the list of all where that of a status is asked for, as one does that does not know the filter's name (it is
 * not shown). The status is no field of a payment, so that no page tells it; but then one payment is listed under two statuses, and under the first
 * again: a payment that goes its way between two looks does not come back. Looked for before anything is kept: every payment
 * would take every status in turn.
 */
export async function ignoredStatusFilter(
  job: Job<BillPaymentsProgress>,
  { read }: Pick<AccountingCalls, "read">,
  { profile, statuses }: Pick<PreparedBillPaymentsSync, "profile" | "statuses">,
): Promise<Refusal | undefined> {
  const [one, other] = [statuses.at(0), statuses.at(-1)];
  if (one === undefined || other === undefined || one === other) return undefined;
  const { connection } = profile;
  const listedAs = async (status: BillPaymentStatus): Promise<string[]> =>
    (await callWithEscalation(job, () => read.sampleBillPayments({ connection, status }))).ids;
  job.moveOn("a look whether the service tells statuses apart");
  const first = await listedAs(one);
  const inBoth = first.length === 0 ? [] : common(first, await listedAs(other));
  const [id] = inBoth.length === 0 ? [] : common(inBoth, await listedAs(one));
  if (id === undefined) return undefined;
  const message =
    `The bill payment "${id}" was listed as \`${one}\`, then as \`${other}\`, then as \`${one}\` again: the service does not filter by ` +
    "status. Give billPayments.status of ACCOUNTING_DIALECT the service's name for it, or null where there is none.";
  return { kind: "refused", attention: "unexpected-answer", message };
}

function common(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((id) => others.includes(id));
}
