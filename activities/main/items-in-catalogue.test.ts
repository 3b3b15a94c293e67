import { Connection, WorkflowClient } from "@temporalio/client";
import { expect, onTestFinished, test } from "vitest";

import { inActivity, serve, START_MS } from "../test-support/served.ts";
import { createMainActivities } from "./index.ts";

const asking = (sku: string) => ({
  connection: "default",
  businessId: "biz_1",
  lines: [{ sku, quantity: 1, unitPrice: 1 }],
});

async function serveMain() {
  const served = await serve();
  // Connects when it is used, and nothing here uses it.
  const connection = Connection.lazy();
  onTestFinished(() => connection.close());
  const workflows = new WorkflowClient({ connection });
  const main = createMainActivities({
    ...served.context,
    accounting: new Map(),
    callbackUrlFor: () => undefined,
    workflows,
  });
  const readAll = () => inActivity(() => served.activities.readItems(asking("TEA-500")));
  return { served, main, readAll };
}

test("a process that has read no catalogue knows no items, and does not ask for them", async () => {
  const { served, main } = await serveMain();
  expect(await main.itemsInCatalogue(asking("TEA-500"))).toBeUndefined();
  expect(served.simulator.calls()).toEqual([]);
});

test("a young catalogue gives the items without a call", async () => {
  const { served, main, readAll } = await serveMain();
  await readAll();
  expect(await main.itemsInCatalogue(asking("FLOUR-2"))).toMatchObject({
    kind: "resolved",
    items: [{ id: "item_flour" }],
  });
  expect(served.simulator.calls({ operation: "listItems" })).toHaveLength(1);
});

test("a name that it does not have leaves the answer to the API", async () => {
  const { main, readAll } = await serveMain();
  await readAll();
  expect(await main.itemsInCatalogue(asking("RICE-1"))).toBeUndefined();
});

test("a catalogue that is too old leaves the answer to the API", async () => {
  const { served, main, readAll } = await serveMain();
  await readAll();
  served.clock.nowMs = START_MS + served.runtime.catalogueAgeMs + 1;
  expect(await main.itemsInCatalogue(asking("TEA-500"))).toBeUndefined();
});

test("a catalogue that is older than the caller allows leaves the answer to the API", async () => {
  const { main, readAll } = await serveMain();
  await readAll();
  expect(await main.itemsInCatalogue({ ...asking("TEA-500"), notOlderThanMs: START_MS + 1 })).toBeUndefined();
});
