import { expect, test } from "vitest";

import { configuredUi, listLink, type TemporalUi, viewLines, workflowLink } from "./temporal-ui.ts";

const UI = { uiUrl: "http://localhost:8233", namespace: "shop" };

test("a workflow's id and a list filter are each escaped as one part of a UI link", () => {
  expect(workflowLink(UI, "sale/default/biz_1/INV 1")).toBe(
    "http://localhost:8233/namespaces/shop/workflows/sale%2Fdefault%2Fbiz_1%2FINV%201",
  );
  const filter = 'FiscalAttention IS NOT NULL AND ExecutionStatus = "Running"';
  const link = new URL(listLink(UI, filter) ?? "");
  expect(link.searchParams.get("query")).toBe(filter);
});

test("the operator views are links, or their filters where the UI's address is unknown; today is Nairobi's", () => {
  const lateEvening = Date.UTC(2026, 10, 22, 22, 0);
  const filters = [
    ["needs an operator", 'FiscalAttention IS NOT NULL AND ExecutionStatus = "Running"'],
    ["waits for the authority", 'FiscalStage = "awaiting-authority" AND ExecutionStatus = "Running"'],
    ["today's sales", 'WorkflowType = "sale" AND StartTime >= "2026-11-23T00:00:00+03:00"'],
  ];
  const cells = (ui: TemporalUi): string[][] => viewLines(ui, lateEvening).map((line) => line.split(/ {2,}/));
  expect(cells({ ...UI, uiUrl: undefined })).toEqual(filters);
  expect(cells(UI)).toEqual(filters.map(([name, filter = ""]) => [name, listLink(UI, filter)]));
});

test("the UI's address comes from TEMPORAL_UI_URL, with or without a slash at its end", () => {
  const env = { TEMPORAL_CONFIG_FILE: "/nonexistent", TEMPORAL_NAMESPACE: "shop" };
  expect(configuredUi({ ...env, TEMPORAL_UI_URL: "http://localhost:8233/" })).toEqual(UI);
  expect(configuredUi(env)).toEqual({ uiUrl: undefined, namespace: "shop" });
});

test("a TEMPORAL_UI_URL that is no URL is reported", () => {
  expect(() => configuredUi({ TEMPORAL_CONFIG_FILE: "/nonexistent", TEMPORAL_UI_URL: "here" })).toThrow(
    /TEMPORAL_UI_URL: .*here/,
  );
});
