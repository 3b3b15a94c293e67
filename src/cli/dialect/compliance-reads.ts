import { operation } from "../../compliance/index.ts";
import { fieldsOf, findBusinessNames, rowsIn } from "../../dialect/find-in-answers.ts";
import { CommandFailedError } from "../cli-error.ts";
import { valueAt } from "../../dialect/settings.ts";
import {
  candidates,
  type ComplianceProbe,
  findPlace,
  foundName,
  NO_SUCH_ID,
  NO_SUCH_NAME,
  send,
} from "./compliance-probe.ts";
import { findingOf, findName, type NameSearch, type Verdict } from "./find-name.ts";
import type { Answer } from "./prober.ts";

/** Item records as GET /v1/items shows them, as far as they are used here. */
export interface SeenItem {
  id: string;
  unitPrice: number;
  /** Registered, and tracked in stock. */
  fit: boolean;
}

/**
 * Everything that harmless calls show of the Compliance API.
 * @returns the items of the business
 * @throws CommandFailedError where no business can be acted for, since every answer would say that alone
 */
export async function probeReads(probe: ComplianceProbe): Promise<SeenItem[]> {
  await probeBusinesses(probe);
  const items = await probeItems(probe);
  await probePurchases(probe);
  await probePull(probe);
  await probeRetry(probe);
  await probeRegistration(probe);
  return items;
}

async function probeBusinesses(probe: ComplianceProbe): Promise<void> {
  const answer = await probe.prober.call((signal) =>
    probe.client.send("listBusinesses", { path: operation("listBusinesses").path }, { signal }),
  );
  if (answer.kind !== "ok") return noteUnread(probe, "businesses", "GET /v1/businesses", answer);
  const { businesses, ...names } = findBusinessNames(answer.body, probe.businessId);
  for (const [key, value] of Object.entries(names))
    probe.findings.set(`businesses.${key}`, { kind: "found", value, evidence: "found in the answer by its content" });
  // The name that is configured for the business of a bound key need not be its id.
  const isOnlyChoice = probe.businessId === undefined || businesses.length === 1;
  const own = businesses.find(({ id }) => id === probe.businessId) ?? (isOnlyChoice ? businesses[0] : undefined);
  probe.businessId ??= own?.id;
  probe.branches = own?.branches ?? [];
}

/** A list that the key may not read, for example, shows nothing. */
function noteUnread(
  { findings, configured }: ComplianceProbe,
  group: "businesses" | "purchases",
  call: string,
  answer: Exclude<Answer, { kind: "ok" }>,
): void {
  const evidence = `${call}: ${answer.kind === "refused" ? `HTTP ${answer.status}` : answer.message}`;
  for (const key of Object.keys(configured[group])) findings.set(`${group}.${key}`, { kind: "open", evidence });
}

/** The list of items also shows whether what is taken for the business's id is one. */
async function probeItems(probe: ComplianceProbe): Promise<SeenItem[]> {
  if (probe.keyReach === "organisation" && probe.businessId === undefined)
    throw new CommandFailedError(
      "No business was found in GET /v1/businesses. Set COMPLIANCE_BUSINESS_ID and try again.",
    );
  const answer = await send(probe, "listItems", { path: operation("listItems").path });
  if (answer.kind === "refused" && (answer.status === 400 || answer.status === 404)) {
    const message = `GET /v1/items answers HTTP ${answer.status} for the business ${probe.businessId ?? "of the key"}.`;
    throw new CommandFailedError(`${message} Set COMPLIANCE_BUSINESS_ID and COMPLIANCE_KEY_REACH, and try again.`);
  }
  if (answer.kind !== "ok") return [];
  return rowsIn(fieldsOf(fieldsOf(answer.body)["data"])["items"]).flatMap((row) => {
    const { id, unitPrice, stockTracked, registrationStatus } = row;
    if (typeof id !== "string") return [];
    const fit = stockTracked === true && registrationStatus === "REGISTERED";
    return [{ id, unitPrice: typeof unitPrice === "number" ? unitPrice : 1, fit }];
  });
}

const okOr400 = (answer: Answer): Verdict =>
  answer.kind === "ok" ? "taken" : answer.kind === "refused" && answer.status === 400 ? "refused" : "other";

interface PurchasesPage {
  ids: unknown[];
  statuses: unknown[];
  nextCursor: unknown;
  pageSize: unknown;
}

function pageOf(answer: Answer): PurchasesPage {
  const body = answer.kind === "ok" ? fieldsOf(answer.body) : {};
  const rows = rowsIn(fieldsOf(body["data"])["purchases"]);
  const { nextCursor, pageSize } = fieldsOf(body["pagination"]);
  return { ids: rows.map(({ id }) => id), statuses: rows.map(({ status }) => status), nextCursor, pageSize };
}

async function probePurchases(probe: ComplianceProbe): Promise<void> {
  const list = (query: Readonly<Record<string, string>>): Promise<Answer> =>
    send(probe, "listPurchases", { path: operation("listPurchases").path, query });
  const first = await list({});
  if (first.kind !== "ok") return noteUnread(probe, "purchases", "GET /v1/purchases", first);
  const whole = pageOf(first);
  const strict = okOr400(await list({ [NO_SUCH_NAME]: "1" })) === "refused";
  const taken: string[] = [];
  const search = async (
    path: string,
    how: Pick<NameSearch, "valid" | "invalid" | "shows" | "documented"> & { fixed?: Readonly<Record<string, string>> },
  ): Promise<string | undefined> => {
    const { fixed = {}, ...rest } = how;
    const result = await findName({
      candidates: candidates(probe, path, taken),
      send: (name, value) => list({ ...fixed, [name]: String(value) }),
      verdictOf: okOr400,
      strict,
      ...rest,
    });
    probe.findings.set(path, findingOf(valueAt(probe.configured, path), result));
    if (result.found) taken.push(result.found.name);
    return result.found?.name;
  };

  const pageSize = await search("purchases.pageSize", {
    valid: ["1"],
    invalid: "101",
    documented: true,
    shows: (answer) => {
      const page = pageOf(answer);
      if (typeof page.pageSize === "number") return page.pageSize === 1;
      return whole.ids.length > 1 ? page.ids.length === 1 : undefined;
    },
  });
  const fixed: Readonly<Record<string, string>> = pageSize === undefined ? {} : { [pageSize]: "1" };
  const firstOfPages = pageSize === undefined ? whole : pageOf(await list(fixed));
  const { nextCursor } = firstOfPages;
  await search("purchases.cursor", {
    fixed,
    valid: typeof nextCursor === "string" ? [nextCursor] : [],
    invalid: NO_SUCH_ID,
    shows: (answer) => JSON.stringify(pageOf(answer).ids) !== JSON.stringify(firstOfPages.ids),
  });
  const other = whole.statuses[0] === "pulled" ? "confirmed" : "pulled";
  const isThereAny = whole.ids.length > 0;
  await search("purchases.status", {
    valid: [other],
    invalid: NO_SUCH_ID,
    shows: (answer) => (isThereAny ? pageOf(answer).statuses.every((status) => status === other) : undefined),
  });
  const empties = (answer: Answer): boolean | undefined => (isThereAny ? pageOf(answer).ids.length === 0 : undefined);
  await search("purchases.from", { valid: ["2999-01-01"], invalid: "not-a-date", shows: empties });
  await search("purchases.to", { valid: ["2000-01-01"], invalid: "not-a-date", shows: empties });
}

async function probePull(probe: ComplianceProbe): Promise<void> {
  const { path } = probe.configured.pull;
  const { answer } = await findPlace(
    probe,
    "pull.businessIdIn",
    (place) => send(probe, "pullPurchases", { path, place, ...(place === "body" && { body: {} }) }),
    ({ kind }) => kind === "ok",
  );
  if (answer.kind === "ok") probe.findings.set("pull.path", { kind: "found", value: path, evidence: "it is there" });
  else if (answer.kind === "refused" && answer.status === 404)
    probe.findings.set("pull.path", { kind: "wrong", evidence: "the API answers 404" });
}

const isNotFound = (answer: Answer): boolean => answer.kind === "refused" && answer.status === 404;

async function probeRetry(probe: ComplianceProbe): Promise<void> {
  const path = operation("retrySale").path.replace("{id}", NO_SUCH_ID);
  await findPlace(
    probe,
    "retry.businessIdIn",
    (place) => send(probe, "retrySale", { path, place, ...(place === "body" && { body: {} }) }),
    isNotFound,
  );
}

/** With an item that does not exist nothing can be registered: a body that is understood is answered 404. */
async function probeRegistration(probe: ComplianceProbe): Promise<void> {
  const path = operation("registerItem").path.replace("{id}", NO_SUCH_ID);
  const register = (body: Readonly<Record<string, unknown>>): Promise<Answer> =>
    send(probe, "registerItem", { path, body });
  const verdictOf = (answer: Answer): Verdict =>
    isNotFound(answer) ? "taken" : okOr400(answer) === "refused" ? "refused" : "other";
  if (verdictOf(await register({})) !== "taken") return;
  const strict = verdictOf(await register({ [NO_SUCH_NAME]: true })) === "refused";
  const search = { verdictOf, strict, send: (name: string, value: unknown) => register({ [name]: value }) };
  await findBranch(probe, "register", search);
  const force = await findName({
    ...search,
    candidates: candidates(probe, "register.force", [foundName(probe, "register.branch")]),
    valid: [true],
    invalid: NO_SUCH_ID,
  });
  probe.findings.set("register.force", findingOf(probe.configured.register.force, force));
}

/**
 * A branch selector's name, and by which of its ids it names the branch. Without a known branch nothing can be sent
 * that is taken.
 */
export async function findBranch(
  probe: ComplianceProbe,
  operationName: "register" | "stock" | "createSale",
  search: Pick<NameSearch, "verdictOf" | "strict" | "send">,
  taken: readonly (string | undefined)[] = [],
): Promise<void> {
  const prefix = operationName === "createSale" ? "createSale.fields" : operationName;
  const { path, by } = { path: `${prefix}.branch`, by: `${operationName}.branchBy` };
  const { id, authorityId } = probe.branches[1] ?? probe.branches[0] ?? {};
  const forms = [id, authorityId].filter((form) => form !== undefined);
  const isByAuthority = probe.configured[operationName].branchBy === "authorityId";
  const result = await findName({
    ...search,
    candidates: candidates(probe, path, taken),
    valid: isByAuthority ? forms.toReversed() : forms,
    invalid: NO_SUCH_ID,
  });
  probe.findings.set(path, findingOf(valueAt(probe.configured, path), result));
  if (result.found?.value === undefined || id === authorityId) return;
  const value = result.found.value === id ? "id" : "authorityId";
  probe.findings.set(by, { kind: "found", value, evidence: "a branch that is named so is taken" });
}
