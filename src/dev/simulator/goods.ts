import { randomUUID } from "node:crypto";

import { addExactly, negated } from "./decimal.ts";
import type { Caller } from "./keyring.ts";
import { ApiError, notFound } from "./request.ts";
import {
  type Business,
  InstructionError,
  type Item,
  itemSchema,
  known,
  type NewItem,
  parseInstruction,
  requireNew,
} from "./scenario.ts";
import { type Answer, type Call, type Operation, shown, textIn } from "./service.ts";
import { businessOf, chooseBranch, type World } from "./world.ts";

/** @throws InstructionError that begins with `at` */
export function addItem(world: World, raw: unknown, at = "item"): void {
  const item = parseInstruction(at, itemSchema, raw);
  const { branches } = known("business", world.businesses, item.businessId, at);
  requireNew("item", world.items, item.id, at);
  requireRate(world, item, at);
  for (const branchId of Object.keys(item.onHand))
    if (!branches.some(({ id }) => id === branchId))
      throw new InstructionError("item", [`${at}.onHand: business "${item.businessId}" has no branch "${branchId}"`]);
  world.items.set(item.id, item);
}

/** Changes what the patch names, of the stock too. */
export function updateItem(world: World, id: string, patch: Partial<NewItem>): void {
  const item = known("item", world.items, id);
  const onHand = { ...item.onHand, ...patch.onHand };
  const changed = parseInstruction("item", itemSchema, { ...item, ...patch, onHand });
  requireRate(world, changed, "item");
  Object.assign(item, changed);
}

function requireRate({ taxRates }: World, { taxTypeCode }: Item, at: string): void {
  if (!Object.hasOwn(taxRates, taxTypeCode))
    throw new InstructionError("item", [`${at}.taxTypeCode: there is no tax rate for "${taxTypeCode}"`]);
}

/** The item of this business, or 404: another business's item is indistinguishable from none. */
export function itemOf(world: World, business: Business, id: string): Item {
  const item = world.items.get(id);
  if (item === undefined || item.deleted || item.businessId !== business.id) throw notFound(`Item ${id}`);
  return item;
}

export function itemsOf(world: World, businessId: string): Item[] {
  return [...world.items.values()].filter((item) => item.businessId === businessId && !item.deleted);
}

/** The Item of the document, without what only the simulator keeps. */
function itemBody(item: Item): Record<string, unknown> {
  return {
    id: item.id,
    externalId: item.externalId ?? item.id,
    name: item.name,
    sku: item.sku ?? item.id,
    taxCategory: item.taxCategory,
    taxTypeCode: item.taxTypeCode,
    productTypeCode: item.productTypeCode,
    classificationCode: item.classificationCode,
    unitCode: item.unitCode,
    packagingUnitCode: item.packagingUnitCode,
    unitPrice: item.unitPrice,
    stockTracked: item.stockTracked,
    registrationStatus: item.registrationStatus,
    needs: { ...item.needs },
  };
}

/** Asks the authority; the registration script has one step for each attempt, and the last repeats. */
function register(world: World, item: Item): void {
  const refusal = (code: string, message: string) => new ApiError(422, code, message, { item: itemBody(item) });
  const lacking = Object.entries(item.needs).find(([, lacks]) => lacks)?.[0];
  if (lacking !== undefined) throw refusal("item_incomplete", `The item lacks ${lacking}`);
  const script = [item.registration].flat();
  const step = script[Math.min(item.registrationAttempts, script.length - 1)] ?? "accept";
  item.registrationAttempts += 1;
  if (step !== "accept") throw refusal(world.dialect.errors.authorityRejected, step.reject);
  item.registrationStatus = "REGISTERED";
}

function registerItem(world: World, call: Call<Caller>): Answer {
  const names = world.dialect.register;
  const business = businessOf(world, call, "query");
  const body = call.body();
  // "accepts the branch id or its authorityBhfId", whichever the dialect prefers.
  chooseBranch(business, names.branch, body.optionalText(names.branch, 200), "either");
  const force = body.flag(names.force);
  call.refuseOthers();
  const item = itemOf(world, business, call.raw.params["id"] ?? "");
  if (item.registrationStatus !== "REGISTERED" || force) register(world, item);
  return { status: 200, body: { data: { item: itemBody(item) } } };
}

function createItem(world: World, call: Call<Caller>, fields: Readonly<Record<string, string | null>> = {}): Answer {
  const named = (field: string): string | null => (fields[field] === undefined ? field : fields[field]);
  const business = businessOf(world, call, "query");
  const body = call.body();
  const text = (field: string): string | undefined => body.optionalText(named(field), 200) ?? undefined;
  const id = `item_${randomUUID()}`;
  addItem(world, {
    id,
    businessId: business.id,
    name: body.text(named("name") ?? "name", 200),
    externalId: text("externalId"),
    sku: text("sku"),
    taxCategory: text("taxCategory"),
    taxTypeCode: text("taxTypeCode"),
    productTypeCode: text("productTypeCode"),
    classificationCode: text("classificationCode"),
    unitCode: text("unitCode"),
    packagingUnitCode: text("packagingUnitCode"),
    unitPrice: body.optionalAmount(named("unitPrice"), "at least 0") ?? 0,
    stockTracked: body.flag(named("stockTracked")),
    registrationStatus: "PENDING",
  });
  world.calls.note(call.entry, { itemId: id });
  return { status: 201, body: { data: { item: itemBody(itemOf(world, business, id)) } } };
}

/** Each call is a movement of its own; nothing is de-duplicated (document, POST /v1/stock/adjustments). */
function adjustStock(world: World, call: Call<Caller>): Answer {
  const names = world.dialect.stock;
  const business = businessOf(world, call, names.businessIdIn);
  const body = call.body();
  const itemId = body.text("itemId", 200);
  const action = body.oneOf("action", ["ADD", "DEDUCT"]);
  const quantity = body.amount("quantity", "at least 0");
  const unitPrice = body.optionalAmount("unitPrice", "at least 0");
  const referenceId = body.optionalText("referenceId", 100);
  const branchId = chooseBranch(business, names.branch, body.optionalText(names.branch, 200), names.branchBy);
  call.refuseOthers();
  const { onHand, fiscalReport } = itemOf(world, business, itemId);
  const onHandBefore = onHand[branchId] ?? 0;
  const onHandAfter = addExactly(onHandBefore, action === "ADD" ? quantity : negated(quantity));
  onHand[branchId] = onHandAfter;
  const movementId = `movement_${randomUUID()}`;
  world.movements.push({
    movementId,
    atMs: world.nowMs(),
    application: call.caller.application.name,
    businessId: business.id,
    branchId,
    itemId,
    action,
    quantity,
    unitPrice,
    referenceId,
    onHandBefore,
    onHandAfter,
  });
  const report = { stockIo: { status: fiscalReport.stockIo }, stockMaster: { status: fiscalReport.stockMaster } };
  const data = { itemId, branchId, movementId, quantityOnHand: onHandAfter };
  return { status: 201, body: { data: names.report === null ? data : { ...data, [names.report]: report } } };
}

/** POST /v1/items/{id}/register, GET /v1/items, POST /v1/stock/adjustments, and item creation where the dialect has it. */
export function goodsOperations(world: World): Operation<Caller>[] {
  const creation = world.dialect.createItem;
  const operations: Operation<Caller>[] = [
    {
      name: "adjustStock",
      method: "POST",
      path: "/v1/stock/adjustments",
      scope: "stock:write",
      facts: (_raw, body) => ({ itemId: textIn(body, "itemId"), referenceId: textIn(body, "referenceId") }),
      handle: (call) => adjustStock(world, call),
    },
    {
      name: "registerItem",
      method: "POST",
      path: "/v1/items/{id}/register",
      scope: "catalog:write",
      facts: ({ params }) => ({ itemId: params["id"] }),
      handle: (call) => registerItem(world, call),
    },
    {
      name: "listItems",
      method: "GET",
      path: "/v1/items",
      scope: "catalog:read",
      handle: (call) => {
        const business = businessOf(world, call, "query");
        call.refuseOthers();
        const items = itemsOf(world, business.id).map((item) => shown(world.oddRows, itemBody(item)));
        return { status: 200, body: { data: { items } } };
      },
    },
  ];
  if (creation !== null)
    operations.push({
      name: "createItem",
      method: creation.method,
      path: creation.path,
      scope: "catalog:write",
      handle: (call) => createItem(world, call, creation.fields),
    });
  return operations;
}
