import { type BookedPayment, type SortField, sortFields } from "./bill-payment-book.ts";
import type { AccountingSettings, AccountingWorld } from "./accounting-world.ts";
import { Refusal } from "./refusal.ts";
import { type AccountingApplication, type AccountingOperation, paymentMethods, paymentStatuses } from "./scenario.ts";

/** The page size without the input: a default is not shown. */
const defaultLimit = 20;

export interface AdmittedCall {
  application: AccountingApplication;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
}

export interface AccountingRoute {
  name: AccountingOperation;
  method: "GET" | "POST";
  path: string;
  handle: (world: AccountingWorld, call: AdmittedCall) => unknown;
}

/** Document, "Endpoints". */
export const accountingRoutes: readonly AccountingRoute[] = [
  { name: "listCompanies", method: "GET", path: "/companies", handle: listCompanies },
  { name: "listBillPayments", method: "GET", path: "/bill-payments", handle: listBillPayments },
  { name: "processSyncBatch", method: "POST", path: "/sync/batches/:syncBatchId/process", handle: processSyncBatch },
];

function isAuthorized({ companies }: AccountingApplication, companyId: string): boolean {
  return companies === null || companies.includes(companyId);
}

function listCompanies({ companies, dialect }: AccountingWorld, { application }: AdmittedCall): unknown {
  const own = companies.filter(({ id }) => isAuthorized(application, String(id)));
  return dialect.companies.list === null ? own : { [dialect.companies.list]: own };
}

function listBillPayments(world: AccountingWorld, { application, query }: AdmittedCall): unknown {
  const inputs = new Inputs(query);
  const names = world.dialect.billPayments;
  const asked = inputs.wholeNumber(names.page, 1, Number.MAX_SAFE_INTEGER) ?? 1;
  const limit = inputs.wholeNumber(names.limit, 1, 100) ?? defaultLimit;
  const method = inputs.oneOf(names.paymentMethod, paymentMethods);
  const status = inputs.oneOf(names.status, paymentStatuses);
  const sortBy: SortField = inputs.oneOf(names.sortBy, sortFields) ?? "createdAt";
  const direction = inputs.oneOf(names.sortDirection, ["asc", "desc"] as const) ?? "asc";
  if (world.settings.refuseUnknownInputs) inputs.refuseOthers();
  world.payments.unstableTies = world.settings.unstableTies;
  const isWanted = (payment: BookedPayment): boolean =>
    (status === undefined || payment.status === status) &&
    (method === undefined || payment.method === method) &&
    isAuthorized(application, payment.companyId);
  const select = (page: number) => world.payments.select({ sortBy, direction, isWanted, page, limit });
  const selected = select(asked);
  const totalPages = Math.ceil(selected.total / limit);
  const page = pageThere(asked, totalPages, world.settings.beyondTheEnd);
  const { payments, total } = page === asked ? selected : select(page);
  const endless = world.settings.beyondTheEnd === "endless";
  const flags = { hasNextPage: endless || page < totalPages, hasPreviousPage: page > 1 };
  const data = payments.map(({ body }) => world.oddRows.shown(body));
  return { data, total, page: endless ? asked : page, limit, totalPages, ...flags };
}

/** Which page is answered for the one that was asked for. */
function pageThere(asked: number, totalPages: number, beyondTheEnd: AccountingSettings["beyondTheEnd"]): number {
  const last = Math.max(1, totalPages);
  if (asked <= last || beyondTheEnd === "empty") return asked;
  if (beyondTheEnd === "last-page" || beyondTheEnd === "endless") return last;
  throw new Refusal(404, "There is no such page");
}

function processSyncBatch(world: AccountingWorld, { application, params }: AdmittedCall): unknown {
  const batch = world.batches.get(params["syncBatchId"] ?? "");
  if (batch === undefined) throw new Refusal(404, "There is no such sync batch");
  if (!isAuthorized(application, batch.companyId)) throw new Refusal(403, "Not authorized for this company");
  if (batch.refuse !== null) throw new Refusal(batch.refuse.status, batch.refuse.message);
  batch.processed += 1;
  return { message: batch.message };
}

/** Query inputs under the names of the dialect; a name of null is an input that there is not. */
class Inputs {
  readonly #query: Readonly<Record<string, string>>;
  readonly #read = new Set<string>();

  constructor(query: Readonly<Record<string, string>>) {
    this.#query = query;
  }

  wholeNumber(name: string | null, least: number, most: number): number | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Refusal(400, `${name} must be a whole number from ${least} to ${most}`);
  }

  oneOf<T extends string>(name: string | null, allowed: readonly T[]): T | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw new Refusal(400, `${name} must be one of ${allowed.join(", ")}`);
    return found;
  }

  refuseOthers(): void {
    const other = Object.keys(this.#query).find((name) => !this.#read.has(name));
    if (other !== undefined) throw new Refusal(400, `${other} is not a known input`);
  }

  #take(name: string | null): string | undefined {
    if (name === null) return undefined;
    this.#read.add(name);
    return Object.hasOwn(this.#query, name) ? this.#query[name] : undefined;
  }
}
