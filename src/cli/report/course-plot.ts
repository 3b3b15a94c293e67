import type { BusinessReport, Period } from "../../ledger/index.ts";
import { escapeHtml } from "../../receipt/html.ts";
import { money } from "./money.ts";

const WIDTH = 860;
const HEIGHT = 260;
const MARGIN = { left: 76, right: 12, top: 14, bottom: 28 } as const;
const LINES = 4;

/** A document carries no time: by its start is all that is known of its hour. */
export function courseTitle({ kind }: Period): string {
  return `Sales and credit notes by ${kind === "day" ? "the hour in which each was started" : "day"}`;
}

/**
 * Sales upwards and credit notes downwards, by day of the month or hour of the day. Amounts are drawn, not added: the
 * tables are exact.
 */
export function coursePlot(period: Period, course: BusinessReport["course"]): string {
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
    return `${line}<text class="tick" text-anchor="end" x="${MARGIN.left - 8}" y="${(yOf(amount) + 4).toFixed(1)}">${short(amount)}</text>`;
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

function short(amount: number): string {
  const absolute = Math.abs(amount);
  const sign = amount < 0 ? "−" : "";
  if (absolute >= 1e6) return `${sign}${+(absolute / 1e6).toFixed(2)} M`;
  return absolute >= 1e4 ? `${sign}${+(absolute / 1e3).toFixed(2)} k` : `${sign}${+absolute.toFixed(2)}`;
}
