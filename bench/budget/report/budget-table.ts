import { table } from "../../stack/table.ts";
import type { Runner } from "../lanes.ts";
import type { JudgedLane } from "../measure/judge-lane.ts";
import type { Summary } from "./medians.ts";

export const RUNNERS: Readonly<Record<Runner, string>> = {
  product: "fiscalflow",
  "fixed-slots": "8 fixed slots, retry on 429",
  "per-second": "Temporal's limit per second",
  bullmq: "BullMQ with its limiter",
};

const HEAD = [
  "lane",
  "what",
  "how",
  "processes",
  "windows",
  "used: mean",
  "used: least",
  "own 429s",
  "wait: median",
  "wait: p95",
  "wait: worst",
  "background",
  "small: typical",
  "small: worst",
];

/** For people to read; the same figures stand in the JSON. */
export function budgetTable({ lanes, lone }: Summary): string {
  const tables = [table(HEAD, lanes.map(row)), LEGEND];
  if (lone) {
    const ms = (value: number): string => `${value.toFixed(0)} ms`;
    const head = ["a lone sale", "pairs", "median", "p95", "without a limit: median", "p95", "ratio of the medians"];
    const { pairs, medianMs, p95Ms, unlimitedMedianMs, unlimitedP95Ms, ratio } = lone;
    const cells = ["lone", String(pairs), ms(medianMs), ms(p95Ms), ms(unlimitedMedianMs), ms(unlimitedP95Ms)];
    tables.push(table(head, [[...cells, ratio.toFixed(2)]]));
  }
  return tables.join("\n\n");
}

const LEGEND = `used: of what a stranger leaves of a window. own 429s: of all calls sent. wait: of interactive jobs (of small businesses)
that come at random moments, until their first call arrives, in % of a window. background: its share of what interactive work
leaves. small: the waits of nineteen small businesses against those under equal shares (1.00: as long).`;

function row({ lane, figures }: JudgedLane): string[] {
  return [
    lane.name,
    lane.title,
    RUNNERS[lane.runner],
    String(lane.processes),
    String(figures.windows),
    percent(figures.meanUsed),
    percent(figures.leastUsed),
    percent(figures.ownRefusals),
    percent(figures.medianWait),
    percent(figures.p95Wait),
    percent(figures.worstWait) + (figures.unserved > 0 ? ` (${figures.unserved} of ${figures.jobs} unserved)` : ""),
    percent(figures.backgroundShare),
    figures.medianAgainstEqual?.toFixed(2) ?? "",
    figures.worstAgainstEqual?.toFixed(2) ?? "",
  ];
}

function percent(share: number | undefined): string {
  return share === undefined ? "" : `${(share * 100).toFixed(1)} %`;
}
