import { expect, test } from "vitest";

import { inActivity, serve, START_MS } from "../test-support/served.ts";
import { createItemsInCatalogue } from "./compose.ts";

const asking = (sku: string) => ({
  connection: "default",
  businessId: "biz_1",
  lines: [{ sku, quantity: 1, unitPrice: 1 }],
});

async function serveMain() {
  const served = await serve();
  const inCatalogue = createItemsInCatalogue(served.context);
  const readAll = () => inActivity(() => served.activities.readItems(asking("TEA-500")));
  return { served, inCatalogue, readAll };
}

test("a process that has read no catalogue knows no items, and does not ask for them", async () => {
  const { served, inCatalogue } = await serveMain();
  expect(inCatalogue(asking("TEA-500"))).toBeUndefined();
  expect(served.simulator.calls()).toEqual([]);
});

test("a young catalogue gives the items without a call", async () => {
  const { served, inCatalogue, readAll } = await serveMain();
  await readAll();
  expect(inCatalogue(asking("FLOUR-2"))).toMatchObject({
    kind: "resolved",
    items: [{ id: "item_flour" }],
  });
  expect(served.simulator.calls({ operation: "listItems" })).toHaveLength(1);
});

test("an item that the catalogue does not have is left to the API", async () => {
  const { inCatalogue, readAll } = await serveMain();
  await readAll();
  expect(inCatalogue(asking("RICE-1"))).toBeUndefined();
});

test("a catalogue that is too old leaves the answer to the API", async () => {
  const { served, inCatalogue, readAll } = await serveMain();
  await readAll();
  served.clock.nowMs = START_MS + served.runtime.catalogueAgeMs + 1;
  expect(inCatalogue(asking("TEA-500"))).toBeUndefined();
});

test("a catalogue that is older than the caller allows leaves the answer to the API", async () => {
  const { inCatalogue, readAll } = await serveMain();
  await readAll();
  expect(inCatalogue({ ...asking("TEA-500"), notOlderThanMs: START_MS + 1 })).toBeUndefined();
});
