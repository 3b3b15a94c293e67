import { Authority } from "./authority.ts";
import { CallLog } from "./call-log.ts";
import { CallbackDelivery } from "./callback-delivery.ts";
import { Catalogue } from "./catalogue.ts";
import { Changes } from "./changes.ts";
import { parseDialect, type Dialect } from "./dialect.ts";
import { DocumentStore } from "./document-store.ts";
import { Faults } from "./faults.ts";
import { IdempotencyRecords } from "./idempotency.ts";
import { Keyring } from "./keyring.ts";
import { completeOptions, type Settings, type SimulatorOptions } from "./options.ts";
import { parseScenario } from "./parse-scenario.ts";
import { RateWindows } from "./rate-windows.ts";
import { OddRows } from "./odd-rows.ts";
import { PurchaseStore } from "./purchase-store.ts";
import { Receipts } from "./receipts.ts";
import type { Business } from "./scenario-schema.ts";
import { Stock } from "./stock.ts";
import { Timers } from "./timers.ts";

/** A creation that the authority rejected without leaving a document. */
export interface RejectionWithoutDocument {
  atMs: number;
  invoice: string;
  reason: string;
}

/** Everything the simulator knows. */
export interface World {
  readonly nowMs: () => number;
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly unitPriceIncludesTax: boolean;
  readonly timers: Timers;
  readonly changes: Changes;
  readonly keyring: Keyring;
  readonly businesses: Map<string, Business>;
  readonly catalogue: Catalogue;
  readonly stock: Stock;
  readonly purchases: PurchaseStore;
  readonly documents: DocumentStore;
  readonly rejections: RejectionWithoutDocument[];
  readonly authority: Authority;
  readonly callbacks: CallbackDelivery;
  readonly idempotency: IdempotencyRecords;
  readonly windows: RateWindows;
  readonly faults: Faults;
  readonly oddRows: OddRows;
  readonly calls: CallLog;
}

/** A world in the scenario's state, without the sales issued elsewhere. */
export function createWorld(options: SimulatorOptions): {
  world: World;
  scenario: ReturnType<typeof parseScenario>;
  host: string;
  port: number;
} {
  const { settings, nowMs, seed, callbackRetryDelaysMs, host, port } = completeOptions(options);
  const dialect = parseDialect(options.dialect);
  const scenario = parseScenario(options.scenario);
  const timers = new Timers();
  const changes = new Changes();
  const documents = new DocumentStore();
  const catalogue = new Catalogue(scenario.taxRates);
  const stock = new Stock();
  for (const item of scenario.items) {
    catalogue.add(item);
    stock.set(item.id, item.onHand);
  }
  const purchases = new PurchaseStore(timers, changes);
  for (const purchase of scenario.purchases) purchases.add(purchase);
  const faults = new Faults(seed);
  const callbacks = new CallbackDelivery({ timers, changes, faults, nowMs, retryDelaysMs: callbackRetryDelaysMs });
  const authority = new Authority({
    nowMs,
    timers,
    changes,
    documents,
    callbacks,
    faults,
    receipts: new Receipts(),
    isRegistered: (itemId) => catalogue.get(itemId)?.registrationStatus === "REGISTERED",
  });
  authority.setDefault(scenario.authority.default);
  for (const [invoice, steps] of Object.entries(scenario.authority.documents)) authority.setScript(invoice, steps);
  const world: World = {
    nowMs,
    settings,
    dialect,
    unitPriceIncludesTax: scenario.unitPriceIncludesTax,
    timers,
    changes,
    keyring: new Keyring(scenario.applications),
    businesses: new Map(scenario.businesses.map((business) => [business.id, business])),
    catalogue,
    stock,
    purchases,
    documents,
    rejections: [],
    authority,
    callbacks,
    idempotency: new IdempotencyRecords(),
    windows: new RateWindows(),
    faults,
    oddRows: new OddRows(),
    calls: new CallLog(),
  };
  return { world, scenario, host, port };
}
