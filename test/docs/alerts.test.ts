import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

import { promises } from "../promises/promises.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(resolve(ROOT, path), "utf8");

const rulesSchema = z.object({
  groups: z.array(
    z.object({ rules: z.array(z.object({ alert: z.string(), annotations: z.record(z.string(), z.string()) })) }),
  ),
});

test("docs/monitoring.md says of each alert what to do, and of no other, and each alert names its section", () => {
  const alerts = rulesSchema.parse(parse(read("deploy/prometheus/alerts.yml"))).groups.flatMap(({ rules }) => rules);
  const sections = [...read("docs/monitoring.md").matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(alerts.map(({ alert }) => alert));
  for (const { alert, annotations } of alerts)
    expect(annotations["runbook_url"]).toMatch(new RegExp(`/docs/monitoring\\.md#${alert.toLowerCase()}$`));
});

test("the dashboard or an alert shows each metric", async () => {
  const shown = `${read("deploy/grafana/fiscalflow.json")}\n${read("deploy/prometheus/alerts.yml")}`;
  const metrics = (await promises()).flatMap((one) => (one.startsWith("metric ") ? [one.slice("metric ".length)] : []));
  expect(metrics.length).toBeGreaterThan(20);
  expect(metrics.filter((name) => !new RegExp(`\\b${name}(_bucket)?\\b`).test(shown))).toEqual([]);
});
