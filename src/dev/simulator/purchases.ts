import type { Caller } from "./keyring.ts";
import { invalidRequest } from "./request.ts";
import {
  known,
  type NewPurchase,
  parseInstruction,
  type Purchase,
  purchaseSchema,
  purchaseStatuses,
  requireNew,
} from "./scenario.ts";
import { type Answer, type Call, type Operation, shown } from "./service.ts";
import { businessOf, type World } from "./world.ts";

/** Page size without the parameter: the sample shows 20, a default is not stated. */
const defaultPageSize = 20;

/** Newest first; the id decides between invoices of one day, so that pages never overlap. */
function positionOf({ invoiceDate, id }: Purchase): string {
  return `${invoiceDate} ${id}`;
}

/** @throws InstructionError that begins with `at` */
export function addPurchase(world: World, raw: unknown, at = "purchase"): void {
  const purchase = parseInstruction(at, purchaseSchema, raw);
  known("business", world.businesses, purchase.businessId, `${at}.businessId`);
  requireNew("purchase", world.purchases, purchase.id, at);
  world.purchases.set(purchase.id, purchase);
}

/** Changes what the patch names; another date moves the purchase in the list. */
export function updatePurchase(world: World, id: string, patch: Partial<NewPurchase>): void {
  const purchase = known("purchase", world.purchases, id);
  Object.assign(purchase, parseInstruction("purchase", purchaseSchema, { ...purchase, ...patch }));
}

function readCursor(name: string | null, text: string | null): string | null {
  if (text === null) return null;
  const decoded = Buffer.from(text, "base64url").toString();
  if (!/^\d{4}-\d{2}-\d{2} ./.test(decoded)) throw invalidRequest(name ?? "cursor", "is not a cursor of this list");
  return decoded;
}

function listPurchases(world: World, call: Call<Caller>): Answer {
  const names = world.dialect.purchases;
  const business = businessOf(world, call, "query");
  const after = readCursor(names.cursor, call.query.optionalText(names.cursor, 1000));
  const pageSize = call.query.optionalWholeNumber(names.pageSize, 1, 100) ?? defaultPageSize;
  const status = call.query.optionalOneOf(names.status, purchaseStatuses);
  const from = call.query.optionalDay(names.from) ?? "";
  const to = call.query.optionalDay(names.to) ?? "9999";
  call.refuseOthers();
  const wanted = [...world.purchases.values()].filter(
    (one) =>
      one.businessId === business.id &&
      one.stored &&
      (status === null || one.status === status) &&
      one.invoiceDate >= from &&
      one.invoiceDate <= to &&
      (after === null || positionOf(one) < after),
  );
  wanted.sort((left, right) => (positionOf(left) > positionOf(right) ? -1 : 1));
  const page = wanted.slice(0, pageSize);
  const last = wanted.length > pageSize ? page.at(-1) : undefined;
  const nextCursor = last === undefined ? null : Buffer.from(positionOf(last)).toString("base64url");
  const purchases = page.map(({ businessId: _businessId, stored: _stored, ...body }) => shown(world.oddRows, body));
  return { status: 200, body: { data: { purchases }, pagination: { nextCursor, pageSize } } };
}

/** GET /v1/purchases and POST /v1/purchases/pull. */
export function purchaseOperations(world: World): Operation<Caller>[] {
  const { pull } = world.dialect;
  return [
    {
      name: "listPurchases",
      method: "GET",
      path: "/v1/purchases",
      scope: "purchases:read",
      handle: (call) => listPurchases(world, call),
    },
    {
      name: "pullPurchases",
      method: "POST",
      path: pull.path,
      scope: "purchases:read",
      handle: (call) => {
        const business = businessOf(world, call, pull.businessIdIn);
        call.body();
        call.refuseOthers();
        const fetched = [...world.purchases.values()].filter((one) => one.businessId === business.id && !one.stored);
        for (const purchase of fetched) purchase.stored = true;
        return { status: 200, body: { data: { pulled: fetched.length } } };
      },
    },
  ];
}
