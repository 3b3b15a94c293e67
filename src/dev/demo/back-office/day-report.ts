import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { DEFAULT_CONNECTION } from "../../../contract/index.ts";
import type { BusinessReport, Period } from "../../../ledger/index.ts";
import { periodOf } from "../../../cli/report/period.ts";
import { renderHtml } from "../../../cli/report/render-html.ts";
import type { SellerOf } from "../../../cli/report/seller-of.ts";
import { DemoError } from "../demo-error.ts";
import type { DemoStack } from "../start-demo-stack.ts";

type Stack = Pick<DemoStack, "ledger" | "plan" | "simulator">;

/** A workflow tells of a change before the ledger has it. */
const KEPT_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 100;
const ALWAYS: Period = { kind: "month", from: "0001-01-01", to: "9999-12-31" };

/**
 * Returns once the ledger has what the sales came to, or when that takes too long: then the comparison says what is
 * missing.
 */
export async function untilSalesAreKept(stack: Stack, signal: AbortSignal): Promise<void> {
  const meant = stack.plan.examples.filter(({ expected }) => expected.attention !== undefined).length;
  const signed = stack.simulator.documents().filter(({ status }) => status === "completed").length;
  for (const untilMs = Date.now() + KEPT_WITHIN_MS; Date.now() < untilMs;) {
    const report = await readReport(stack, ALWAYS);
    if (report && report.sales.count + report.creditNotes.count === signed && report.open.length <= meant) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

async function readReport({ ledger, plan }: Stack, period: Period): Promise<BusinessReport | undefined> {
  const [report] = await ledger.reports.read({ period, connection: DEFAULT_CONNECTION, businessId: plan.businessId });
  return report;
}

/** Where the page goes if nobody says: it outlives the demo, and the next one of that day replaces it. */
export function reportFile(day: string, workingDirectory: string): string {
  return resolve(workingDirectory, ".fiscalflow", "demo", `day-${day}.html`);
}

/**
 * The day's report, and its page in the file. @param day `YYYY-MM-DD` @throws DemoError where the page cannot be
 * written
 */
export async function writeDayReport(stack: Stack, day: string, file: string): Promise<BusinessReport | undefined> {
  const nowMs = Date.now();
  const period = periodOf("day", day, nowMs);
  const report = await readReport(stack, period);
  const { businesses } = stack.plan.scenario;
  const sellerOf: SellerOf = ({ businessId }) => businesses.find(({ id }) => id === businessId);
  await writePage(file, renderHtml(period, report ? [report] : [], nowMs, sellerOf));
  return report;
}

/** @throws DemoError */
export async function writePage(file: string, page: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, page);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const next = "Give another place with --report FILE.";
    throw new DemoError(`The page of the day's report cannot be written: ${reason}. ${next}`, { cause });
  }
}
