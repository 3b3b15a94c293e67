import { money } from "../../contract/decimal.ts";
import { nairobiTime } from "../../contract/index.ts";
import type { BusinessReport, Period } from "../../ledger/index.ts";
import { escapeHtml } from "../../receipt/html.ts";
import { counted } from "../output.ts";
import { type SellerOf, standingOf, titleOf } from "./asked.ts";
import { rateText, type ShownTable, tablesOf } from "./tables.ts";

export interface ReportHead {
  period: Period;
  nowMs: number;
  sellerOf: SellerOf;
}

export function renderHtml(businesses: readonly BusinessReport[], head: ReportHead): string {
  const { period, nowMs } = head;
  const title = `${period.kind === "day" ? "Day" : "Month"} report, ${titleOf(period)}`;
  const standing = standingOf(period, nowMs);
  const body = businesses.map((report) => section(report, head)).join("");
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

function section(report: BusinessReport, { period, nowMs, sellerOf }: ReportHead): string {
  const { connection, businessId, sales, creditNotes, net, taxes, openByCode, atRisk } = report;
  const countOf = (some: typeof openByCode): number => some.reduce((sum, { count }) => sum + count, 0);
  const waiting = countOf(openByCode);
  const needing = countOf(openByCode.filter(({ code }) => code !== null));
  const seller = sellerOf(report);
  const pin = seller?.pin === undefined ? "" : `PIN ${seller.pin} · `;
  const id = businessId === "-" ? "" : `${businessId} · `;
  const beside = `${pin}${id}connection ${connection}`;
  const figures = [
    { title: "Net of credit notes", value: money(net.total), beside: `taxable ${money(net.taxableAmount)}` },
    { title: "Tax", value: money(net.taxAmount), beside: `of sales ${money(sales.taxAmount)}` },
    {
      title: "Signed sales",
      value: String(sales.count),
      beside: `${counted(creditNotes.count, "credit note")}: ${money(creditNotes.total)}`,
    },
    { title: "At risk now", value: money(atRisk), beside: `${waiting} open; need an operator: ${needing}` },
  ];
  const taxShares = taxes.map(({ net: { taxAmount }, ...rate }) => ({ name: rateText(rate), amount: taxAmount }));
  const { tables, none } = tablesOf(report, nowMs);
  return `<section>
<h2>${escapeHtml(seller?.name ?? beside)}</h2>
${seller === undefined ? "" : `<p class="none">${escapeHtml(beside)}</p>`}
${figuresOf(figures)}
${courseCard(period, report)}
<div class="pair">
${shareCard("Net tax by rate", taxShares, "sale")}
${shareCard("Money at risk, by what an operator is needed for", riskShares(report), "risk")}
</div>
${tables.map(tableCard).join("\n")}
${none === "" ? "" : `<p class="none">${escapeHtml(none)}</p>`}
</section>`;
}

function riskShares({ openByCode }: BusinessReport): Share[] {
  return openByCode
    .filter(({ atRisk }) => Number(atRisk) > 0)
    .map(({ code, atRisk }) => ({ name: code ?? "nobody yet", amount: atRisk }));
}

const KEY =
  '<div class="key"><span><i style="background:var(--sale)"></i>sales</span><span><i style="background:var(--note)"></i>credit notes</span></div>';

function courseCard(period: Period, { course, notInCourse: { sales, creditNotes } }: BusinessReport): string {
  const left = sales.count + creditNotes.count;
  const note =
    left === 0
      ? ""
      : `<p class="none">Not shown, as started on another day (${left}): sales ${money(sales.total)}, credit notes ${money(creditNotes.total)}.</p>`;
  if (course.length === 0) return note === "" ? "" : card(courseTitle(period), note);
  return card(courseTitle(period), `${coursePlot(period, course)}${KEY}${note}`);
}

interface Share {
  name: string;
  amount: string;
}

/** A bar for each share, as long as its amount; of less than nothing in the colour of credit notes. */
function shareCard(title: string, shares: readonly Share[], tone: "sale" | "risk"): string {
  if (shares.length === 0) return "";
  const longest = Math.max(...shares.map(({ amount }) => Math.abs(Number(amount))), 1e-9);
  const rows = shares.map(({ name, amount }) => {
    const [width, colour] = [(Math.abs(Number(amount)) / longest) * 100, Number(amount) < 0 ? "note" : tone];
    const bar = `<i style="width:${width.toFixed(1)}%;background:var(--${colour})"></i>`;
    return `<span>${escapeHtml(name)}</span><span>${bar}</span><span>${money(amount)}</span>`;
  });
  return card(title, `<div class="shares">${rows.join("")}</div>`);
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

function tableCard({ title, head, right, rows }: ShownTable): string {
  const aligned = (column: number): string => (right.includes(column) ? ' class="right"' : "");
  const heads = head.map((name, column) => `<th${aligned(column)}>${escapeHtml(name)}</th>`).join("");
  const body = rows.map(
    (row) =>
      `<tr>${row.map((value, column) => `<td${aligned(column)} data-head="${escapeHtml(head[column] ?? "")}">${escapeHtml(value)}</td>`).join("")}</tr>`,
  );
  return card(title, `<table><thead><tr>${heads}</tr></thead><tbody>${body.join("")}</tbody></table>`);
}

const WIDTH = 860;
const HEIGHT = 260;
const MARGIN = { left: 76, right: 12, top: 14, bottom: 28 } as const;
const LINES = 4;

/** A document carries no time: by its start is all that is known of its hour. */
function courseTitle({ kind }: Period): string {
  return `Sales and credit notes by ${kind === "day" ? "the hour in which each was started" : "day"}`;
}

/**
 * Sales upwards and credit notes downwards, by day of the month or hour of the day. Amounts are drawn, not added: the
 * tables are exact.
 */
function coursePlot(period: Period, course: BusinessReport["course"]): string {
  const slots = slotsOf(period);
  const known = new Map(course.map((one) => [one.at, one]));
  const bars = slots.map((at) => {
    const { sales = "0", creditNotes = "0" } = known.get(at) ?? {};
    return { at, up: Number(sales), down: -Number(creditNotes), sales, creditNotes };
  });
  const step = stepOf(Math.max(...bars.map(({ up }) => up), ...bars.map(({ down }) => down), 1));
  const above = Math.max(1, Math.ceil(Math.max(...bars.map(({ up }) => up)) / step));
  const below = Math.ceil(Math.max(0, ...bars.map(({ down }) => down)) / step);
  const inner = HEIGHT - MARGIN.top - MARGIN.bottom;
  const yOf = (amount: number): number => MARGIN.top + ((above * step - amount) / ((above + below) * step)) * inner;
  const slot = (WIDTH - MARGIN.left - MARGIN.right) / bars.length;
  const shapes = bars.map(({ at, up, down, sales, creditNotes }, index) => {
    const x = MARGIN.left + index * slot + slot * 0.14;
    const tip = `${at}${period.kind === "day" ? ":00" : ""}: sales ${money(sales)}, credit notes ${money(creditNotes)}`;
    const rising = bar(x, yOf(up), slot * 0.72, yOf(0) - yOf(up), "sale");
    const falling = bar(x, yOf(0), slot * 0.72, yOf(-down) - yOf(0), "note");
    return `<g><title>${escapeHtml(tip)}</title>${hover(index, slot)}${rising}${falling}</g>`;
  });
  const grid = Array.from({ length: above + below + 1 }, (_, n) => (n - below) * step).map((amount) => {
    const y = yOf(amount).toFixed(1);
    const line = `<line class="${amount === 0 ? "axis" : "grid"}" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}"/>`;
    return `${line}<text class="tick" text-anchor="end" x="${MARGIN.left - 8}" y="${(yOf(amount) + 4).toFixed(1)}">${SHORT.format(amount)}</text>`;
  });
  const every = Math.ceil(bars.length / 16);
  const labels = bars.map(({ at }, index) =>
    index % every === 0
      ? `<text class="tick" text-anchor="middle" x="${(MARGIN.left + (index + 0.5) * slot).toFixed(1)}" y="${HEIGHT - 8}">${at.slice(-2)}</text>`
      : "",
  );
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${courseTitle(period)}">`,
    ...grid,
    ...shapes,
    ...labels,
    "</svg>",
  ].join("");
}

function slotsOf({ kind, from, to }: Period): string[] {
  if (kind === "day") return Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
  const days = Number(to.slice(8));
  return Array.from({ length: days }, (_, day) => `${from.slice(0, 8)}${String(day + 1).padStart(2, "0")}`);
}

/** 1, 2 or 5 times a power of ten, so that about so many lines are drawn. */
function stepOf(highest: number): number {
  const rough = highest / LINES;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
}

function bar(x: number, y: number, width: number, height: number, name: string): string {
  if (height <= 0) return "";
  const [left, top, wide, high] = [x, y, width, Math.max(height, 1)].map((value) => value.toFixed(1));
  return `<rect class="${name}" x="${left}" y="${top}" width="${wide}" height="${high}" rx="2"/>`;
}

/** So that the tip shows wherever the pointer is in the column. */
function hover(index: number, slot: number): string {
  const x = (MARGIN.left + index * slot).toFixed(1);
  return `<rect class="hover" x="${x}" y="${MARGIN.top}" width="${slot.toFixed(1)}" height="${HEIGHT - MARGIN.top - MARGIN.bottom}"/>`;
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

const PAGE_STYLE = `
:root { color-scheme: light dark; --page: #f6f5f1; --card: #fff; --ink: #1d2433; --quiet: #667085; --line: #e4e2da;
  --sale: #1f7a5c; --note: #c8503c; --risk: #d08a1d; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --card: #1c2027; --ink: #e8eaee; --quiet: #98a2b3; --line: #2c323c;
  --sale: #3fb48b; --note: #e4745f; --risk: #e5a83f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 36px 20px 60px; }
header p, footer { color: var(--quiet); margin: 0; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 2px; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 44px 0 14px; overflow-wrap: anywhere; }
h3 { font-size: 12px; margin: 0 0 10px; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); font-weight: 600; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(190px, 100%), 1fr)); gap: 14px; margin: 22px 0 14px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; margin-bottom: 14px; overflow-x: auto; }
.figures .card { margin: 0; container-type: inline-size; }
.figure { font-size: min(var(--most, 25px), 100cqi / (var(--characters) * .64)); line-height: 38px; font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.card small { color: var(--quiet); font-size: 13px; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(380px, 100%), 1fr)); gap: 14px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--quiet); font-size: 12.5px; border-bottom: 1px solid var(--line); padding: 0 14px 7px 0; }
td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
.right { text-align: right; padding-right: 0; padding-left: 14px; white-space: nowrap; }
th.right { white-space: normal; vertical-align: bottom; } td:not(.right) { min-width: 9ch; }
svg { display: block; width: 100%; height: auto; }
.shares { display: grid; grid-template-columns: fit-content(45%) 1fr auto; gap: 12px 14px; font-size: 13px; overflow-wrap: anywhere; }
.shares i { display: block; height: 20px; min-width: 1px; border-radius: 3px; } .shares span:nth-child(3n) { font-variant-numeric: tabular-nums; text-align: right; }
.tick { font-size: 11px; fill: var(--quiet); font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); } .axis { stroke: var(--quiet); }
rect.sale { fill: var(--sale); } rect.note { fill: var(--note); } rect.hover { fill: transparent; }
g:hover > rect.hover { fill: var(--quiet); opacity: .12; }
.key { display: flex; gap: 18px; color: var(--quiet); font-size: 13px; margin-top: 8px; }
.key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
.none { color: var(--quiet); margin: 0; }
footer { margin-top: 40px; font-size: 13px; }
@media (max-width: 600px) {
  main { padding: 20px 12px 40px; } h1 { font-size: 21px; } h2 { margin-top: 30px; } .card { padding: 14px; }
  .figures { grid-template-columns: 1fr 1fr; gap: 10px; } .figures .card { padding: 12px; } .figure { --most: 18px; line-height: 27px; }
  .tick { font-size: 22px; }
  thead { display: none; } tr { display: block; padding: 7px 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; }
  td, td.right { display: flex; justify-content: space-between; gap: 16px; border: 0; padding: 2px 0; text-align: right; white-space: normal; }
  td::before { content: attr(data-head); color: var(--quiet); white-space: nowrap; }
  td:first-child { font-weight: 600; text-align: left; } td:first-child::before { content: none; } td:empty { display: none; }
}
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --quiet: #444; --line: #bbb;
    --sale: #1f7a5c; --note: #c8503c; --risk: #d08a1d; }
  body { font-size: 11px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; } h2 { margin-top: 18px; }
  .card { break-inside: avoid; overflow: visible; padding: 10px 12px; margin-bottom: 8px; border-radius: 0; }
  .figures { grid-template-columns: repeat(4, 1fr); gap: 8px; } .figure { --most: 15px; line-height: 23px; }
  .pair { grid-template-columns: 1fr 1fr; gap: 8px; }
  table, th { font-size: 10px; } thead { display: table-header-group; } tr { break-inside: avoid; }
  .card:has(table) { break-inside: auto; }
}
`;
