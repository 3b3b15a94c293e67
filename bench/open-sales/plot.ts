import { type Figures, LIMITS, mostMb, recoveryMs } from "./limits.ts";

interface Panel {
  readonly title: string;
  readonly of: (one: Figures) => number;
  /** Undefined: what is shown has none. */
  readonly limit?: number;
  readonly digits: number;
}

const PANELS: readonly Panel[] = [
  { title: "largest memory of the worker, MB", of: mostMb, limit: LIMITS.workerMb, digits: 0 },
  {
    title: "a worker that starts serves after, s",
    of: (one) => one.readySeconds,
    limit: LIMITS.readySeconds,
    digits: 1,
  },
  { title: "recovery of one sale, ms", of: recoveryMs, digits: 1 },
];
const WIDTH = 240;
const HEIGHT = 150;
const GAP = 60;
const TOP = 40;
const TEXT = 'font-family="sans-serif" font-size="12" fill="#333"';

/** By the number of open sales, on a logarithmic axis; a broken line is the limit. */
export function plot(all: readonly Figures[]): string {
  const width = GAP + PANELS.length * (WIDTH + GAP);
  const height = TOP + HEIGHT + GAP;
  const panels = PANELS.map(
    (panel, at) => `<g transform="translate(${GAP + at * (WIDTH + GAP)} ${TOP})">${drawn(panel, all)}</g>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

function drawn({ title, of, limit, digits }: Panel, all: readonly Figures[]): string {
  const highest = 1.2 * Math.max(limit ?? 0, ...all.map(of));
  const [first, last] = [all[0]?.sales ?? 1, all.at(-1)?.sales ?? 1];
  const points = all.map((one) => {
    const share = first === last ? 0 : Math.log(one.sales / first) / Math.log(last / first);
    return { x: share * WIDTH, y: HEIGHT * (1 - of(one) / highest), sales: one.sales, value: of(one).toFixed(digits) };
  });
  const line = points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const limitY = limit === undefined ? undefined : (HEIGHT * (1 - limit / highest)).toFixed(1);
  return [
    text(0, -16, title, "start"),
    `<path d="M0 0V${HEIGHT}H${WIDTH}" fill="none" stroke="#333"/>`,
    limitY === undefined ? "" : `<path d="M0 ${limitY}H${WIDTH}" stroke="#d1495b" stroke-dasharray="4 3"/>`,
    `<path d="${line}" fill="none" stroke="#2563a8" stroke-width="2"/>`,
    ...points.map(({ x, y, sales, value }) =>
      [
        `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="#2563a8"/>`,
        text(x, y + 18, value),
        text(x, HEIGHT + 18, sales.toLocaleString("en")),
      ].join(""),
    ),
    text(WIDTH / 2, HEIGHT + 38, "open sales"),
  ].join("");
}

function text(x: number, y: number, words: string, anchor: "start" | "middle" = "middle"): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${TEXT}>${words}</text>`;
}
