import { invalidRequest } from "../api-error.ts";
import type { AdmittedCall, Operation } from "../operation.ts";
import type { Purchase } from "../scenario-schema.ts";
import { defaultPurchasePageSize } from "../undocumented.ts";
import type { World } from "../world.ts";

const statuses: readonly string[] = ["pulled", "pending_review", "confirmed", "rejected"];

function purchaseBody(purchase: Purchase): Record<string, unknown> {
  const { businessId: _businessId, stored: _stored, changes: _changes, ...body } = purchase;
  return body;
}

function readCursor(name: string | null, text: string | null): string | null {
  if (text === null) return null;
  const decoded = Buffer.from(text, "base64url").toString();
  if (!/^\d{4}-\d{2}-\d{2} ./.test(decoded)) throw invalidRequest(name ?? "cursor", "is not a cursor of this list");
  return decoded;
}

function readPageSize(name: string | null, text: string | null): number {
  if (text === null) return defaultPurchasePageSize;
  const size = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (size < 1 || size > 100) throw invalidRequest(name ?? "pageSize", "must be an integer from 1 to 100");
  return size;
}

function list(
  world: World,
  call: AdmittedCall,
): { purchases: Purchase[]; nextCursor: string | null; pageSize: number } {
  const names = world.dialect.purchases;
  const business = call.business();
  const after = readCursor(names.cursor, call.query.optionalText(names.cursor, 1000));
  const pageSize = readPageSize(names.pageSize, call.query.optionalText(names.pageSize, 20));
  const status = call.query.optionalText(names.status, 100);
  if (status !== null && !statuses.includes(status))
    throw invalidRequest(names.status ?? "status", `must be one of ${statuses.join(", ")}`);
  const from = call.query.optionalDay(names.from);
  const to = call.query.optionalDay(names.to);
  call.refuseOtherQuery();
  const { purchases, next } = world.purchases.page(business.id, { status, from, to }, { after, most: pageSize });
  return { purchases, pageSize, nextCursor: next === null ? null : Buffer.from(next).toString("base64url") };
}

/** GET /v1/purchases and POST /v1/purchases/pull. */
export function purchaseOperations(world: World): Operation[] {
  const { pull } = world.dialect;
  return [
    {
      name: "listPurchases",
      method: "GET",
      path: "/v1/purchases",
      scope: "purchases:read",
      businessIdIn: "query",
      handle: (call) => {
        const { purchases, nextCursor, pageSize } = list(world, call);
        return {
          status: 200,
          body: {
            data: { purchases: purchases.map((purchase) => world.oddRows.shown(purchaseBody(purchase))) },
            pagination: { nextCursor, pageSize },
          },
        };
      },
    },
    {
      name: "pullPurchases",
      method: "POST",
      path: pull.path,
      scope: "purchases:read",
      businessIdIn: pull.businessIdIn,
      handle: (call) => {
        const business = call.business();
        call.body().refuseOthers(world.settings.refuseUnknownFields);
        call.refuseOtherQuery();
        return { status: 200, body: { data: { pulled: world.purchases.pull(business.id) } } };
      },
    },
  ];
}
