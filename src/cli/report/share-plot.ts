import { escapeHtml } from "./escape-html.ts";
import { money } from "./money.ts";

const WIDTH = 410;
const ROW = 34;
const MOST_LABEL = 150;
/** Of a character, on the broad side. */
const CHARACTER = 7.5;
const VALUE = 104;

export interface Share {
  name: string;
  amount: string;
}

/** One bar to the right for each share, its amount behind it. */
export function sharePlot(title: string, shares: readonly Share[], tone: "sale" | "risk"): string {
  const longest = Math.max(...shares.map(({ amount }) => Math.abs(Number(amount))), 1e-9);
  const label = Math.min(MOST_LABEL, 18 + CHARACTER * Math.max(0, ...shares.map(({ name }) => name.length)));
  const room = WIDTH - label - VALUE;
  const rows = shares.map(({ name, amount }, index) => {
    const y = index * ROW;
    const length = (Math.abs(Number(amount)) / longest) * room;
    const bar = `<rect class="${tone}" x="${label}" y="${y + 7}" width="${Math.max(length, 1).toFixed(1)}" height="${ROW - 14}" rx="3"/>`;
    return [
      `<text class="label" x="0" y="${y + 21}">${escapeHtml(cut(name))}</text>`,
      length === 0 ? "" : bar,
      `<text class="value" text-anchor="end" x="${WIDTH}" y="${y + 21}">${money(amount)}</text>`,
    ].join("");
  });
  const height = Math.max(shares.length, 1) * ROW;
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${rows.join("")}</svg>`;
}

const MOST_CHARACTERS = 22;

function cut(name: string): string {
  const characters = Array.from(name);
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…` : name;
}
