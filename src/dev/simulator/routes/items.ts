import { randomUUID } from "node:crypto";
import { ApiError } from "../api-error.ts";
import { chooseBranch } from "../branch-choice.ts";
import { itemBody, type ItemRecord } from "../catalogue.ts";
import type { Operation } from "../operation.ts";
import { codes } from "../undocumented.ts";
import type { World } from "../world.ts";

/** Asks the authority; the registration script has one step for each attempt, and the last repeats. */
function register(world: World, item: ItemRecord): void {
  const lacking = Object.entries(item.needs).find(([, lacks]) => lacks)?.[0];
  if (lacking !== undefined)
    throw new ApiError(422, codes.itemIncomplete, `The item lacks ${lacking}`, { item: itemBody(item) });
  const script = Array.isArray(item.registration) ? item.registration : [item.registration];
  const step = script[Math.min(item.registrationAttempts, script.length - 1)] ?? "accept";
  item.registrationAttempts += 1;
  if (step !== "accept")
    throw new ApiError(422, world.dialect.errors.authorityRejected, step.reject, { item: itemBody(item) });
  item.registrationStatus = "REGISTERED";
}

function registerOperation(world: World): Operation {
  const names = world.dialect.register;
  return {
    name: "registerItem",
    method: "POST",
    path: "/v1/items/{id}/register",
    scope: "catalog:write",
    businessIdIn: "query",
    facts: (params) => ({ itemId: params["id"] ?? null }),
    handle: (call) => {
      const business = call.business();
      const body = call.body();
      // "accepts the branch id or its authorityBhfId", whichever the dialect prefers.
      chooseBranch(business, names.branch, body.optionalText(names.branch, 200), "either");
      const force = body.flag(names.force);
      body.refuseOthers(world.settings.refuseUnknownFields);
      call.refuseOtherQuery();
      const item = world.catalogue.require(business.id, call.params["id"] ?? "");
      if (item.registrationStatus !== "REGISTERED" || force) register(world, item);
      return { status: 200, body: { data: { item: itemBody(item) } } };
    },
  };
}

function listOperation(world: World): Operation {
  return {
    name: "listItems",
    method: "GET",
    path: "/v1/items",
    scope: "catalog:read",
    businessIdIn: "query",
    handle: (call) => {
      const business = call.business();
      call.refuseOtherQuery();
      return {
        status: 200,
        body: { data: { items: world.catalogue.of(business.id).map((item) => world.oddRows.shown(itemBody(item))) } },
      };
    },
  };
}

/** Item creation is named without a shape: it exists only when the dialect gives it one. */
function createOperation(world: World): Operation[] {
  const { createItem } = world.dialect;
  if (createItem === null) return [];
  const named = (field: string): string | null => {
    const name = createItem.fields?.[field];
    return name === undefined ? field : name;
  };
  return [
    {
      name: "createItem",
      method: createItem.method,
      path: createItem.path,
      scope: "catalog:write",
      businessIdIn: "query",
      handle: (call) => {
        const business = call.business();
        const body = call.body();
        const text = (field: string): string | undefined => body.optionalText(named(field), 200) ?? undefined;
        const item = world.catalogue.add({
          id: `item_${randomUUID()}`,
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
        call.note({ itemId: item.id });
        return { status: 201, body: { data: { item: itemBody(world.catalogue.require(business.id, item.id)) } } };
      },
    },
  ];
}

/** POST /v1/items/{id}/register, GET /v1/items, and item creation when the dialect has it. */
export function itemOperations(world: World): Operation[] {
  return [registerOperation(world), listOperation(world), ...createOperation(world)];
}
