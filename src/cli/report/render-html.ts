import type { BusinessReport, Period } from "../../ledger/index.ts";
import { nairobiTime } from "../../contract/index.ts";
import { coursePlot, courseTitle } from "./course-plot.ts";
import { escapeHtml } from "../../receipt/html.ts";
import { money, rateText } from "./money.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { standingOf } from "./period.ts";
import { titleOf } from "./render-text.ts";
import type { SellerOf } from "./seller-of.ts";
import { type Share, sharePlot } from "./share-plot.ts";
import { type ReportTable, tablesOf } from "./tables.ts";

/**
 * The report as one page that loads nothing: no script, no font, no picture from elsewhere.
 * @param sellerOf who a business is, as far as that is known
 */
export function renderHtml(
  period: Period,
  businesses: readonly BusinessReport[],
  nowMs: number,
  sellerOf: SellerOf = () => undefined,
): string {
  const title = `${period.kind === "day" ? "Day" : "Month"} report, ${titleOf(period)}`;
  const standing = standingOf(period, nowMs);
  const body = businesses.map((report) => section(period, report, nowMs, sellerOf)).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<header><h1>${escapeHtml(title)}</h1><p>Days and hours of Africa/Nairobi (EAT). Documents count on their own date, once the tax authority has accepted them. Amounts are in KES.</p>${standing === undefined ? "" : `<p><strong>${standing}</strong></p>`}</header>
${body === "" ? '<p class="none">The ledger has no documents of that connection and business.</p>' : body}
<footer>Made ${nairobiTime(nowMs)} from the ledger. To check that nobody has altered the ledger: <code>fiscalflow ledger verify</code>.</footer>
</main>
</body>
</html>
`;
}

function section(period: Period, report: BusinessReport, nowMs: number, sellerOf: SellerOf): string {
  const { connection, businessId, sales, creditNotes, net, open, moreOpen, atRisk } = report;
  const waiting = open.length + moreOpen;
  const parked = open.filter(({ attentions }) => attentions.length > 0).length;
  const seller = sellerOf(report);
  const pin = seller?.pin === undefined ? "" : `PIN ${seller.pin} · `;
  const id = businessId === "-" ? "" : `${businessId} · `;
  const beside = `${pin}${id}connection ${connection}`;
  const figures = [
    { title: "Net of credit notes", value: money(net.total), beside: `taxable ${money(net.taxableAmount)}` },
    { title: "Tax", value: money(net.taxAmount), beside: `of sales ${money(sales.taxAmount)}` },
    { title: "Signed sales", value: String(sales.count), beside: creditNotesText(creditNotes) },
    { title: "At risk now", value: money(atRisk), beside: `${waiting} open, ${parked} of them parked` },
  ];
  const { tables, none } = tablesOf(report, nowMs);
  const key = `<div class="key"><span><i style="background:var(--sale)"></i>sales</span><span><i style="background:var(--note)"></i>credit notes</span></div>`;
  return `<section>
<h2>${escapeHtml(seller?.name ?? beside)}</h2>
${seller === undefined ? "" : `<p class="none">${escapeHtml(beside)}</p>`}
${figuresOf(figures)}
${courseCard(period, report, key)}
${pairOf([
  shareCard("Net tax by rate", taxShares(report), "sale"),
  shareCard("Money at risk, by what an operator is needed for", riskShares(report), "risk"),
])}
${tables.map(tableCard).join("\n")}
${none === "" ? "" : `<p class="none">${escapeHtml(none)}</p>`}
</section>`;
}

function creditNotesText({ count, total }: BusinessReport["creditNotes"]): string {
  if (count === 0) return "no credit note";
  return `${count} credit ${count === 1 ? "note" : "notes"}: ${money(total)}`;
}

function taxShares({ taxes }: BusinessReport): Share[] {
  return taxes.map(({ net, ...rate }) => ({ name: rateText(rate), amount: net.taxAmount }));
}

const MOST_SHARES = 8;

/** Drawn, not accounted: the exact sum stands above. */
function riskShares({ open }: BusinessReport): Share[] {
  const byCode = new Map<string, number>();
  for (const { attentions, atRisk } of open) {
    const code = attentions[0]?.code ?? "nobody yet";
    byCode.set(code, (byCode.get(code) ?? 0) + Number(atRisk));
  }
  return [...byCode]
    .filter(([, amount]) => amount > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_SHARES)
    .map(([name, amount]) => ({ name, amount: amount.toFixed(2) }));
}

function courseCard(period: Period, { course, notInCourse }: BusinessReport, key: string): string {
  const note = notInCourse.count === 0 ? "" : `<p class="none">${escapeHtml(notInCourseText(notInCourse))}</p>`;
  if (course.length === 0) return note === "" ? "" : card(courseTitle(period), note);
  return card(courseTitle(period), `${coursePlot(period, course)}${key}${note}`);
}

function notInCourseText({ count, sales, creditNotes }: BusinessReport["notInCourse"]): string {
  const [documents, are] = count === 1 ? ["document", "is"] : ["documents", "are"];
  return `${count} ${documents} of this day ${are} not shown, started on another day: sales ${money(sales)}, credit notes ${money(creditNotes)}.`;
}

function shareCard(title: string, shares: readonly Share[], tone: "sale" | "risk"): string {
  return shares.length === 0 ? "" : card(title, sharePlot(title, shares, tone));
}

function pairOf(cards: readonly string[]): string {
  const there = cards.filter((one) => one !== "");
  return there.length === 0 ? "" : `<div class="pair">\n${there.join("\n")}\n</div>`;
}

interface Figure {
  title: string;
  value: string;
  beside: string;
}

/** All in one size, in which the longest has room in its card. */
function figuresOf(figures: readonly Figure[]): string {
  const longest = Math.max(...figures.map(({ value }) => value.length));
  const cards = figures.map(({ title, value, beside }) =>
    card(title, `<div class="figure">${escapeHtml(value)}</div><small>${escapeHtml(beside)}</small>`),
  );
  return `<div class="figures" style="--characters: ${longest}">${cards.join("")}</div>`;
}

function card(title: string, content: string): string {
  return `<div class="card"><h3>${escapeHtml(title)}</h3>${content}</div>`;
}

function tableCard({ title, head, right, rows }: ReportTable): string {
  const aligned = (column: number): string => (right.includes(column) ? ' class="right"' : "");
  const heads = head.map((name, column) => `<th${aligned(column)}>${escapeHtml(name)}</th>`).join("");
  const body = rows.map(
    (row) =>
      `<tr>${row.map((value, column) => `<td${aligned(column)} data-head="${escapeHtml(head[column] ?? "")}">${escapeHtml(value)}</td>`).join("")}</tr>`,
  );
  return card(title, `<table><thead><tr>${heads}</tr></thead><tbody>${body.join("")}</tbody></table>`);
}
