import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import {
  type JobState,
  MAIN_TASK_QUEUE,
  type RegisterItemsInput,
  type RegisterItemsOutcome,
  registerItemsWorkflowId,
  type RegistrationProgress,
  STATE_QUERY,
  UPDATES,
} from "../../src/contract/index.ts";
import type { NewItem } from "../../src/dev/simulator/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const SCOPE = { connection: "default", businessId: "biz_1" };
const workflowId = registerItemsWorkflowId(SCOPE);
const COUNT = 130;

function itemOf(n: number, more: Partial<NewItem> = {}): NewItem {
  const id = `bulk_${String(n).padStart(4, "0")}`;
  return { id, businessId: "biz_1", name: `Item ${n}`, unitPrice: 10, registrationStatus: "PENDING", ...more };
}

describeWithTemporal("the registration of items", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
    for (let n = 0; n < COUNT; n++) rig.simulator.addItem(itemOf(n));
  });
  afterAll(() => rig?.close());
  beforeEach(() => {
    rig.simulator.clearFaults();
    rig.simulator.resetCalls();
  });

  const start = (input: RegisterItemsInput = {}) =>
    rig.client.workflow.start("registerItems", { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] });
  async function register(input: RegisterItemsInput = {}): Promise<RegisterItemsOutcome> {
    return (await (await start(input)).result()) as RegisterItemsOutcome;
  }
  const asked = (): (string | null)[] => rig.simulator.calls({ operation: "registerItem" }).map(({ itemId }) => itemId);
  async function parked(): Promise<JobState<RegistrationProgress>> {
    const handle = rig.client.workflow.getHandle(workflowId);
    const look = () => handle.query<JobState<RegistrationProgress>>(STATE_QUERY);
    await expect.poll(async () => (await look()).attentions.length).toBeGreaterThan(0);
    return look();
  }

  test("registers a whole catalogue, and reports each item's outcome", async () => {
    const outcome = await register();
    // Of the built-in catalogue four are registered, one is not, and one lacks data.
    expect(outcome.counts).toEqual({
      registered: COUNT + 1,
      "registered-already": 4,
      "needs-data": 1,
      refused: 0,
      unknown: 0,
      unclear: 0,
    });
    expect(outcome.needsData).toEqual([
      {
        kind: "needs-data",
        item: "item_incomplete",
        name: "Sundries, not yet classified",
        needs: ["classificationMapping"],
      },
    ]);
    // One that lacks data by its own word is not asked for.
    expect(asked()).toHaveLength(COUNT + 1);
    expect(await rig.ledger.items.page(SCOPE, { kinds: ["registered"], most: 1_000 })).toHaveLength(COUNT + 1);
  });

  test("sends no request where it runs again", async () => {
    const { counts } = await register();
    expect(counts).toMatchObject({ registered: 0, "registered-already": COUNT + 5, "needs-data": 1 });
    expect(asked()).toEqual([]);
  });

  test("takes a list by id, external id and SKU, and reports the unknown names", async () => {
    rig.simulator.addItem(itemOf(900, { externalId: "till-900" }));
    rig.simulator.addItem(itemOf(901, { sku: "SKU-901" }));
    rig.simulator.addItem(itemOf(902, { externalId: "till-900-b", sku: "twice" }));
    rig.simulator.addItem(itemOf(903, { sku: "twice" }));
    const { counts, unknown } = await register({ items: ["till-900", "SKU-901", "bulk_0901", "twice", "nothing"] });
    expect(counts).toMatchObject({ registered: 2, unknown: 2 });
    expect(unknown).toEqual([
      { kind: "unknown", item: "nothing", reason: 'no item has the id, external id or SKU "nothing"' },
      { kind: "unknown", item: "twice", reason: '2 items have the sku "twice"' },
    ]);
    expect(new Set(asked())).toEqual(new Set(["bulk_0900", "bulk_0901"]));
    expect(asked()).toHaveLength(2);
  });

  test("reports what is refused, and goes on", async () => {
    rig.simulator.addItem(itemOf(910, { registration: { reject: "Unknown unit" } }));
    rig.simulator.addItem(itemOf(911));
    const { refused, counts } = await register({ items: ["bulk_0910", "bulk_0911"] });
    expect(counts).toMatchObject({ registered: 1, refused: 1 });
    expect(refused[0]).toMatchObject({ item: "bulk_0910", reason: expect.stringContaining("Unknown unit") as string });
  });

  test("registers again by force, at the branch that was asked for, whichever name it has", async () => {
    const { counts } = await register({ items: ["bulk_0000", "bulk_0001"], branch: "01", force: true });
    expect(counts).toMatchObject({ registered: 2 });
    expect(asked()).toHaveLength(2);
    expect(rig.simulator.calls({ operation: "listBusinesses" })).toHaveLength(1);
  });

  test("reads the item of a registration whose answer was lost", async () => {
    rig.simulator.addItem(itemOf(920));
    rig.simulator.inject({ operation: "registerItem", when: "after", kind: "drop", times: 1 });
    expect((await register({ items: ["bulk_0920"] })).counts).toMatchObject({ registered: 1 });
    expect(asked()).toEqual(["bulk_0920"]);
  });

  /** An item whose registration is under way: planned and asked for, and not yet looked at by the service. */
  async function underWay(n: number) {
    rig.simulator.addItem(itemOf(n));
    const { id } = itemOf(n);
    const slow = { operation: "registerItem", when: "before", kind: "slow", delayMs: 2_000 } as const;
    rig.simulator.inject({ ...slow, match: { itemId: id } });
    const handle = await start({ items: [id] });
    await expect.poll(asked, { interval: 20 }).toEqual([id]);
    return { id, outcome: async () => (await handle.result()) as RegisterItemsOutcome };
  }

  test("reports what an item lacks, though the catalogue had shown it as complete", async () => {
    const { id, outcome } = await underWay(922);
    rig.simulator.updateItem(id, { needs: { classificationMapping: true, productType: false } });
    const { counts, needsData } = await outcome();
    expect(counts).toMatchObject({ "needs-data": 1, registered: 0 });
    expect(needsData).toEqual([{ kind: "needs-data", item: id, name: "Item 922", needs: ["classificationMapping"] }]);
    expect(asked()).toEqual([id]);
  });

  test("reports an item as unknown that was deleted after the catalogue had shown it", async () => {
    const { id, outcome } = await underWay(923);
    rig.simulator.updateItem(id, { deleted: true });
    const { counts, unknown } = await outcome();
    expect(counts).toMatchObject({ unknown: 1, registered: 0 });
    expect(unknown).toMatchObject([
      { item: id, name: "Item 923", reason: expect.stringContaining(`Item ${id}`) as string },
    ]);
    expect(asked()).toEqual([id]);
  });

  test("lists the known branches where the requested one is unknown", async () => {
    const handle = await start({ items: ["bulk_0000"], branch: "77" });
    const { attentions } = await parked();
    expect(attentions[0]).toMatchObject({
      code: "not-found",
      resolvedBy: ["retry"],
      evidence: { branches: [{ id: "branch_1", authorityBhfId: "00" }, { id: "branch_2" }] },
    });
    rig.simulator.addBranch("biz_1", { id: "branch_77", authorityBhfId: "77" });
    await handle.executeUpdate(UPDATES.retry, { args: [{ note: "opened" }] });
    expect(await handle.result()).toMatchObject({ counts: { "registered-already": 1 } });
  });

  test("needs one decision for all requests that are refused as malformed, and skips them", async () => {
    for (let n = 930; n < 950; n++) rig.simulator.addItem(itemOf(n));
    const body = { error: { code: "invalid_request", message: "branchId is not known" } };
    rig.simulator.inject({ operation: "registerItem", when: "before", kind: "status", status: 400, body });
    const handle = await start({ items: Array.from({ length: 20 }, (_, n) => `bulk_0${930 + n}`) });
    const { attentions } = await parked();
    expect(attentions[0]).toMatchObject({ code: "invalid-request", resolvedBy: ["retry", "acknowledge"] });
    await handle.executeUpdate(UPDATES.acknowledge, {
      args: [{ code: "invalid-request", note: "they are test items" }],
    });
    expect(await handle.result()).toMatchObject({ counts: { refused: 20 } });
  });
});
