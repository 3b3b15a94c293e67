import { Authority } from "./authority.ts";
import { CallLog } from "./call-log.ts";
import { Callbacks } from "./callbacks.ts";
import { issueElsewhere } from "./create-document.ts";
import type { Dialect } from "./dialect.ts";
import { DocumentStore } from "./documents.ts";
import { addItem, goodsOperations } from "./goods.ts";
import { type Caller, Keyring, RateWindows } from "./keyring.ts";
import { addPurchase, purchaseOperations } from "./purchases.ts";
import { ApiError, forbidden } from "./request.ts";
import { salesOperations } from "./sales.ts";
import { type Business, type Item, known, type Scenario } from "./scenario.ts";
import type { Call, Operation, ServedService, Surroundings } from "./service.ts";
import type { Settings, World } from "./world.ts";

/** @throws InstructionError that names the first reference that leads nowhere, and the first id that occurs twice */
export function createWorld(scenario: Scenario, settings: Settings, dialect: Dialect, around: Surroundings): World {
  const documents = new DocumentStore();
  const callbacks = new Callbacks(around, settings);
  const items = new Map<string, Item>();
  const isRegistered = (id: string): boolean => items.get(id)?.registrationStatus === "REGISTERED";
  const authority = new Authority({ ...around, documents, callbacks, isRegistered });
  authority.setDefault(scenario.authority.default);
  for (const [invoice, steps] of Object.entries(scenario.authority.documents)) authority.setScript(invoice, steps);
  const world: World = {
    ...around,
    settings,
    dialect,
    keyring: new Keyring(scenario.applications),
    businesses: new Map(scenario.businesses.map((business) => [business.id, business])),
    taxRates: scenario.taxRates,
    items,
    movements: [],
    purchases: new Map(),
    documents,
    authority,
    callbacks,
    kept: new Map(),
    keyReuses: [],
    windows: new RateWindows(),
    oddRows: new Map(),
    calls: new CallLog(),
  };
  for (const [index, { keys }] of scenario.applications.entries())
    for (const { businessId } of keys)
      if (businessId !== null) known("business", world.businesses, businessId, `scenario.applications[${index}].keys`);
  for (const [index, item] of scenario.items.entries()) addItem(world, item, `scenario.items[${index}]`);
  for (const [index, one] of scenario.purchases.entries()) addPurchase(world, one, `scenario.purchases[${index}]`);
  for (const [index, sale] of scenario.sales.entries()) issueElsewhere(world, sale, `scenario.sales[${index}]`);
  return world;
}

/** The businesses this caller can act for. */
function reachable(businesses: ReadonlyMap<string, Business>, caller: Caller): Business[] {
  return [...businesses.values()].filter(
    (business) =>
      business.organisation === caller.application.organisation &&
      business.environment === caller.environment &&
      (caller.boundTo === null || caller.boundTo === business.id),
  );
}

function listBusinesses({ dialect, businesses }: World, caller: Caller): unknown {
  const names = dialect.businesses;
  const rows = reachable(businesses, caller).map(({ id, name, branches }) => ({
    [names.id]: id,
    name,
    [names.branches]: branches.map((branch) => ({
      [names.branchId]: branch.id,
      [names.authorityId]: branch.authorityBhfId,
      name: branch.name ?? branch.id,
    })),
  }));
  return { [names.list]: rows };
}

/** GET /v1/businesses, and the operations that the document only names where the dialect has them. */
function accessOperations(world: World): Operation<Caller>[] {
  const { identity, lookups } = world.dialect;
  const reading = (
    name: string,
    where: { method: Operation<Caller>["method"]; path: string } | null,
    data: (caller: Caller) => unknown,
  ) =>
    where === null
      ? []
      : [
          {
            ...where,
            name,
            scope: null,
            handle: ({ caller }: Call<Caller>) => ({ status: 200, body: { data: data(caller) } }),
          },
        ];
  return [
    ...reading("listBusinesses", { method: "GET", path: "/v1/businesses" }, (caller) => listBusinesses(world, caller)),
    ...reading("identity", identity, ({ application, environment, boundTo, scopes }) => {
      return { application: application.name, environment, businessId: boundTo, scopes: [...scopes] };
    }),
    ...reading("lookups", lookups, () => ({ codes: [] })),
  ];
}

/**
 * The Compliance API as its document describes it. Where that is silent the simulator decides, and a client that depends
 * on one of these depends on a guess:
 *
 * - POST /v1/sales answers like POST /v1/credit-notes: 201, 202, 422, and 200 replayed.
 * - An unknown item in a sale is 404, an unknown branch 400 with the extra `branches`.
 * - The authority rejects a sale with an item that is not REGISTERED, where its script would have accepted it.
 * - A sale moves no stock. On-hand may go below 0.
 * - 422 on creation leaves a `failed` document, which the error has as `sale`; 202 leaves a `pending` one.
 * - A retry is accepted for `failed` and for in-flight documents; 200 has whatever the document is then.
 * - A failed or cancelled credit note does not block a second one.
 * - An idempotency key alone decides, and never expires by itself. The replay has the document as it is now, or the 422
 *   of a rejection without a document; no other refusal is kept.
 * - Every authenticated request takes one from its application's window, also if it is refused; one answered 429 takes
 *   nothing.
 * - A cursor is a place in the order of the list: what is stored or moves in front of it is not in later pages.
 * - A callback is sent for `completed` and `failed`, also where the creating answer has told; after a retry a new one.
 */
export function complianceService(world: World): ServedService<Caller> {
  const { settings, keyring, windows, calls } = world;
  return {
    name: "compliance",
    operations: [
      ...salesOperations(world),
      ...goodsOperations(world),
      ...purchaseOperations(world),
      ...accessOperations(world),
    ],
    settings,
    calls,
    identify: ({ headers }) => {
      const caller = keyring.caller(headers);
      if (caller === undefined) throw new ApiError(401, "invalid_api_key", "The API key is missing or not valid");
      const { name, limitPerWindow = settings.limitPerWindow } = caller.application;
      const quota = windows.take(name, limitPerWindow, settings.windowMs, world.nowMs());
      return { caller, application: name, quota };
    },
    requireAllowed: ({ scopes }, { scope }) => {
      if (scope !== null && !scopes.includes(scope)) throw forbidden(`This key lacks the scope ${scope}`);
    },
    errorBody: ({ code, message, extras }) => ({ error: { code, message, ...extras } }),
    commonHeaders: () => ({}),
  };
}
