import { isUnknownPaymentType } from "../../contract/codes.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { BusinessReport, Period } from "../../ledger/index.ts";
import type { CliContext } from "../context.ts";
import { formatOf, jsonText, printNote, withInstants, writeOutput } from "../output.ts";
import { plainTable } from "../tables.ts";
import { withLedger } from "../with-ledger.ts";
import { configuredSeller, headOf, periodOf, refuseUnknown, standingOf, titleOf, withSeller } from "./asked.ts";
import { renderHtml, type ReportHead } from "./page.ts";
import { REPORT_FORMATS, type ReportFlags } from "../register-outputs.ts";
import { tablesOf } from "./tables.ts";

/** Reads the figures once, and writes them in one of three ways. */
export async function runReport(context: CliContext, kind: Period["kind"], flags: ReportFlags): Promise<void> {
  const format = formatOf(flags, REPORT_FORMATS);
  const nowMs = Date.now();
  const period = periodOf(kind, flags.date, nowMs);
  const { connection, business: businessId } = flags;
  const { businesses, sellerOf } = await withLedger(
    context,
    async (ledger, config) => {
      await refuseUnknown(ledger, config, flags);
      const reports = await ledger.reports.read({ period, connection, businessId });
      return { businesses: reports, sellerOf: configuredSeller(config) };
    },
    { quiet: format === "json" },
  );
  const standing = standingOf(period, nowMs);
  // The page for people says it itself.
  if (standing !== undefined && format === "json") printNote(context, standing);
  const render = { text: renderText, html: renderHtml, json: renderJson }[format];
  await writeOutput(context, flags.out, [render(businesses, { period, nowMs, sellerOf })]);
}

export function renderText(businesses: readonly BusinessReport[], { period, nowMs, sellerOf }: ReportHead): string {
  const standing = standingOf(period, nowMs);
  const texts = businesses.map((report) => {
    const { tables, none } = tablesOf(report, nowMs);
    const parts = [
      `${headOf(report, sellerOf)}, ${titleOf(period)}, amounts in KES`,
      standing,
      ...tables.map(({ title, head, right, rows }) => {
        const lines = plainTable(head, rows, right).split("\n");
        return [title, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n");
      }),
      none,
    ];
    return parts.filter(Boolean).join("\n\n");
  });
  return `${plainText(texts.join("\n\n\n") || "The ledger has no documents of that connection and business.")}\n`;
}

function renderJson(businesses: readonly BusinessReport[], { period, nowMs, sellerOf }: ReportHead): string {
  const told = businesses.map((report) => {
    const payments = report.payments.map(({ paymentTypeCode, ...paid }) => {
      return { paymentTypeCode, paymentTypeUnknown: isUnknownPaymentType(paymentTypeCode), ...paid };
    });
    return withSeller({ ...report, payments }, sellerOf);
  });
  const standing = standingOf(period, nowMs) ?? null;
  return `${jsonText(withInstants({ period, madeAtMs: nowMs, standing, businesses: told }), 2)}\n`;
}
