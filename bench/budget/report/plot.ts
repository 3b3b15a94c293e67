import type { JudgedLane } from "../measure/judge-lane.ts";
import type { CountedWindow } from "../measure/windows.ts";
import { RUNNERS } from "./budget-table.ts";

interface Part {
  readonly name: string;
  readonly colour: string;
  readonly of: (window: CountedWindow) => number;
}

/** From the bottom of a bar to its top. */
const PARTS: readonly Part[] = [
  { name: "interactive", colour: "#2563a8", of: (window) => window.interactive },
  { name: "background", colour: "#86b3d9", of: (window) => window.background },
  { name: "a stranger", colour: "#b7b7b7", of: (window) => window.stranger },
  { name: "own 429s", colour: "#d1495b", of: (window) => window.refused },
];

const PANEL = { width: 300, height: 150, gap: 40, columns: 3 } as const;
const MARGIN = { left: 40, top: 70, bottom: 20 } as const;
/** A bar of 429s can be many times the limit: it is cut there, and its number is written above. */
const HIGHEST_IN_LIMITS = 2;
const TEXT = 'font-family="sans-serif" fill="#333"';

/** Calls in each window by class, one panel for each lane. */
export function plot(lanes: readonly JudgedLane[], limit: number, windowMs: number): string {
  const rows = Math.ceil(lanes.length / PANEL.columns);
  const width = MARGIN.left + PANEL.columns * (PANEL.width + PANEL.gap);
  const height = MARGIN.top + rows * (PANEL.height + 2 * PANEL.gap) + MARGIN.bottom;
  const panels = lanes.map((lane, index) => {
    const x = MARGIN.left + (index % PANEL.columns) * (PANEL.width + PANEL.gap);
    const y = MARGIN.top + Math.floor(index / PANEL.columns) * (PANEL.height + 2 * PANEL.gap) + PANEL.gap;
    return `<g transform="translate(${x} ${y})">${panel(lane, limit)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(MARGIN.left, 24, 15, `Calls in each window of ${windowMs / 1_000} s; the line is the limit of ${limit}`),
    legend(),
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

function legend(): string {
  return PARTS.map(({ name, colour }, index) => {
    const x = MARGIN.left + index * 120;
    return `<rect x="${x}" y="38" width="12" height="12" fill="${colour}"/>${text(x + 18, 49, 12, name)}`;
  }).join("");
}

function panel({ lane, windows }: JudgedLane, limit: number): string {
  const scale = PANEL.height / (HIGHEST_IN_LIMITS * limit);
  const step = PANEL.width / Math.max(1, windows.length);
  const bars = windows.map((window, index) => bar(window, { x: index * step, width: step * 0.8, scale }));
  const limitY = PANEL.height - limit * scale;
  const axis = `M0 ${PANEL.height}H${PANEL.width}`;
  return [
    text(0, -24, 12, lane.title),
    text(0, -9, 11, RUNNERS[lane.runner]),
    ...bars,
    `<path d="${axis}" stroke="#333"/><path d="M0 ${limitY}H${PANEL.width}" stroke="#333" stroke-dasharray="4 3"/>`,
    text(-30, limitY + 4, 10, String(limit)),
  ].join("");
}

function bar(window: CountedWindow, place: { x: number; width: number; scale: number }): string {
  const { x, width, scale } = place;
  let top: number = PANEL.height;
  const shapes = PARTS.map(({ colour, of }) => {
    const count = of(window);
    const height = Math.min(count * scale, top);
    top -= height;
    return count === 0 ? "" : rectangle(x, top, width, height, colour);
  });
  const cut = window.refused > 0 ? text(x, Math.max(10, top - 2), 9, String(window.refused)) : "";
  return shapes.join("") + cut;
}

function rectangle(x: number, y: number, width: number, height: number, colour: string): string {
  const [left, top, wide, high] = [x, y, width, height].map((value) => value.toFixed(1));
  return `<rect x="${left}" y="${top}" width="${wide}" height="${high}" fill="${colour}"/>`;
}

function text(x: number, y: number, size: number, words: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" ${TEXT}>${words}</text>`;
}
