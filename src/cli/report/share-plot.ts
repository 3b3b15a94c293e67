import { escapeHtml } from "../../receipt/html.ts";
import { money } from "./money.ts";

const WIDTH = 410;
const ROW = 34;
const MOST_LABEL = 150;
/** Of a character, on the broad side. */
const CHARACTER = 7.5;
const LEAST_VALUE = 104;

export interface Share {
  name: string;
  amount: string;
}

/**
 * One bar for each share, its amount behind it: to the right of a common line, or, of less than nothing, to its left in
 * the colour of credit notes.
 */
export function sharePlot(title: string, shares: readonly Share[], tone: "sale" | "risk"): string {
  const amounts = shares.map(({ amount }) => Number(amount));
  const [below, above] = [Math.max(0, ...amounts.map((amount) => -amount)), Math.max(0, ...amounts)];
  const label = Math.min(MOST_LABEL, 18 + CHARACTER * Math.max(0, ...shares.map(({ name }) => name.length)));
  const value = Math.max(
    LEAST_VALUE,
    CHARACTER * (1 + Math.max(0, ...shares.map(({ amount }) => money(amount).length))),
  );
  const scale = (WIDTH - label - value) / Math.max(above + below, 1e-9);
  const zero = label + below * scale;
  const rows = shares.map(({ name, amount }, index) => {
    const y = index * ROW;
    return [
      `<text class="label" x="0" y="${y + 21}">${escapeHtml(cut(name))}</text>`,
      bar(zero, Number(amount) * scale, y + 7, tone),
      `<text class="value" text-anchor="end" x="${WIDTH}" y="${y + 21}">${money(amount)}</text>`,
    ].join("");
  });
  const height = Math.max(shares.length, 1) * ROW;
  const x = zero.toFixed(1);
  const axis = below > 0 ? `<line class="axis" x1="${x}" x2="${x}" y1="0" y2="${height}"/>` : "";
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${rows.join("")}${axis}</svg>`;
}

/** @param length to the right of `zero`; negative to its left */
function bar(zero: number, length: number, y: number, tone: "sale" | "risk"): string {
  if (length === 0) return "";
  const width = Math.max(Math.abs(length), 1);
  const left = length < 0 ? zero - width : zero;
  return `<rect class="${length < 0 ? "note" : tone}" x="${left.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 14}" rx="3"/>`;
}

const MOST_CHARACTERS = 22;

function cut(name: string): string {
  const characters = Array.from(name);
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…` : name;
}
