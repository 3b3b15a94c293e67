import { nairobiDate } from "../../contract/index.ts";
import { operation } from "../../compliance/index.ts";
import { settingMeantBy } from "../../dialect/candidates.ts";
import type { Finding } from "../../dialect/compare.ts";
import { fieldsOf, findReportName, rowsIn } from "../../dialect/find-in-answers.ts";
import { valueAt } from "../../dialect/settings.ts";
import {
  candidates,
  type ComplianceProbe,
  findPlace,
  foundName,
  NO_SUCH_ID,
  NO_SUCH_NAME,
  type Place,
  send,
} from "./compliance-probe.ts";
import { findBranch, type SeenItem } from "./compliance-reads.ts";
import { findingOf, findName, type NameSearch, type Verdict } from "./find-name.ts";
import type { Answer } from "./prober.ts";
import { NEEDED, nextSearch, saleBody, type SaleContent, type SaleNames, type SaleSearch } from "./sale-body.ts";

/** What was sent to be accepted, and what became of it. */
export interface Write {
  what: "sale" | "credit note" | "stock movement";
  /** Its number, or the movement's reference. */
  number: string;
  /** `unknown`: it may have been made; look in the dashboard. It is never sent again. */
  outcome: "made" | "refused" | "unknown" | "not sent";
  /** The document's or movement's own id. */
  id?: string;
  detail?: string;
}

/** Nobody real, and it says so. */
const CUSTOMER = {
  name: "Dialect Test",
  pin: "A000000000Z",
  phone: "+254700000000",
  email: "dialect-test@example.com",
} as const;
/** Cash, in the tax authority's code list. */
const PAYMENT_TYPE = "01";
const CALLBACK_URL = "https://example.com/dialect";
const REASON_REFUND = "06";
const MOST_BODIES = 40;
const COMPLETED = "completed";
const LOOKS = 20;
const LOOK_EVERY_SECONDS = 2;

const isRefused = (answer: Answer, status: number): boolean => answer.kind === "refused" && answer.status === status;
/** Of a request for an item that does not exist: 404 says that its body was understood. */
const verdictOf = (answer: Answer): Verdict => {
  if (isRefused(answer, 404)) return "taken";
  return isRefused(answer, 400) ? "refused" : "other";
};

/**
 * One sale, one credit note for it and one stock movement. Names are searched with an item that does not exist, which no service can sell;
 * whatever is not refused with 400 or 404 ends the search, since it may have made a document.
 */
export async function probeWrites(
  probe: ComplianceProbe,
  { item, number, onWrite }: { item: SeenItem; number: string; onWrite: (write: Write) => void },
): Promise<void> {
  const sale = await untilEnded("sale", number, () => probeSale(probe, item, number, onWrite));
  if (sale.outcome !== "made") onWrite(sale);
  const saleId = sale.outcome === "made" ? sale.id : undefined;
  const note = `${number}-CN`;
  onWrite(await untilEnded("credit note", note, () => probeCreditNote(probe, saleId, note)));
  const reference = `${number}-STOCK`;
  onWrite(await untilEnded("stock movement", reference, () => probeStock(probe, item, reference)));
}

/** A request that nothing can be made of was not refused with 400 or 404: nothing more is tried. */
class SearchEndedError extends Error {
  override readonly name = "SearchEndedError";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("the search has ended");
    this.answer = answer;
  }
}

async function untilEnded(what: Write["what"], number: string, search: () => Promise<Write>): Promise<Write> {
  try {
    return await search();
  } catch (error) {
    if (!(error instanceof SearchEndedError)) throw error;
    const { answer } = error;
    const detail = "a request for an item that does not exist was not refused with 400 or 404";
    if (answer.kind === "refused" && answer.document === undefined)
      return { what, number, outcome: "not sent", detail: `${detail}: HTTP ${answer.status}` };
    const id =
      answer.kind === "ok" ? documentOf(answer)["id"] : answer.kind === "refused" ? answer.document?.id : undefined;
    return { what, number, outcome: "unknown", detail, ...(typeof id === "string" && { id }) };
  }
}

/** Only for what cannot be made: whatever is not refused as expected ends the search. */
function refusedOnly(answer: Answer): Answer {
  if (verdictOf(answer) === "other") throw new SearchEndedError(answer);
  return answer;
}

function documentOf(answer: Answer): Readonly<Record<string, unknown>> {
  return answer.kind === "ok" ? fieldsOf(fieldsOf(fieldsOf(answer.body)["data"])["sale"]) : {};
}

async function probeSale(
  probe: ComplianceProbe,
  item: SeenItem,
  number: string,
  onWrite: (write: Write) => void,
): Promise<Write> {
  const { path } = probe.configured.createSale;
  const write = (outcome: Write["outcome"], detail: string): Write => ({ what: "sale", number, outcome, detail });
  let place: Place = probe.configured.createSale.businessIdIn;
  const post = (body: Readonly<Record<string, unknown>>, idempotencyKey?: string): Promise<Answer> =>
    send(probe, "createSale", { path, body, place, idempotencyKey });
  const postUnsellable = async (body: Readonly<Record<string, unknown>>): Promise<Answer> =>
    refusedOnly(await post(body));

  const empty = await postUnsellable({});
  if (isRefused(empty, 404)) {
    probe.findings.set("createSale.path", { kind: "wrong", evidence: "the API answers 404" });
    return write("not sent", "the API knows no such path");
  }
  probe.findings.set("createSale.path", found(path, "an empty body is refused with 400"));

  let search: SaleSearch = { names: configuredNames(probe), refuted: new Map() };
  let answer = empty;
  const triedPlaces = new Set<Place>();
  for (let bodies = 0; bodies < MOST_BODIES; bodies++) {
    answer = await postUnsellable(unsellable(search.names, number));
    if (answer.kind !== "refused" || answer.status !== 400) break;
    const isAboutBusiness = answer.words.includes("businessId") || !namesAField(search, answer.words);
    if (probe.keyReach === "organisation" && isAboutBusiness && !triedPlaces.has(place)) {
      triedPlaces.add(place);
      place = place === "query" ? "body" : "query";
      continue;
    }
    const next = nextSearch(search, answer.words);
    if (next === undefined) break;
    search = next;
  }
  if (verdictOf(answer) !== "taken") {
    noteRefused(probe, search);
    return write("not sent", "no body was understood");
  }
  const evidence = "a sale with it is refused for its item alone";
  probe.findings.set("createSale.businessIdIn", found(place, evidence));
  for (const name of NEEDED) probe.findings.set(name, found(search.names[name], evidence));

  const optional = await probeOptionalFields(probe, search.names, number, postUnsellable);
  // Not the item's own price: what comes back tells whether it was taken.
  const content = { number, itemId: item.id, quantity: 1, unitPrice: item.unitPrice + 1 };
  const names = { ...search.names, ...namesFound(probe) };
  const body = { ...saleBody(names, content), ...optional };
  const key = `${number}-sale`;
  const sold = await post(body, key);
  if (sold.kind === "unknown") return write("unknown", sold.message);
  if (sold.kind === "refused") {
    const refused = write("refused", `HTTP ${sold.status}${named(sold.words, body)}`);
    return sold.document === undefined ? refused : { ...refused, id: sold.document.id };
  }
  const document = documentOf(sold);
  const { id } = document;
  if (typeof id !== "string") return write("unknown", "the answer names no id");
  const made: Write = { what: "sale", number, outcome: "made", id };
  onWrite(made);
  compareContent(probe, document, content, optional);
  await probeIdempotencyKey(probe, id, () => post(unsellable(search.names, number), key));
  return made;
}

function found(value: unknown, evidence: string): Finding {
  return { kind: "found", value, evidence };
}

/** Whether a refusal names something that was sent, or that a sale could need. */
function namesAField({ names }: SaleSearch, words: readonly string[]): boolean {
  const sent = new Set<string>(Object.values(names));
  return words.some((word) => sent.has(word) || settingMeantBy(word, NEEDED) !== undefined);
}

function namesFound(probe: ComplianceProbe): Partial<Record<(typeof NEEDED)[number], string>> {
  const entries = NEEDED.flatMap((path) => {
    const name = foundName(probe, path);
    return name === undefined ? [] : [[path, name]];
  });
  return Object.fromEntries(entries);
}

/** A sale that cannot be made: nobody has such an item. */
function unsellable(names: SaleNames, number: string, unitPrice: unknown = 1): Record<string, unknown> {
  return saleBody(names, { number: `${number}-X`, itemId: NO_SUCH_ID, quantity: 1, unitPrice });
}

function configuredNames({ configured }: ComplianceProbe): SaleNames {
  const { fields, lineFields } = configured.createSale;
  return {
    "createSale.fields.traderInvoiceNumber": fields.traderInvoiceNumber,
    "createSale.fields.lines": fields.lines,
    "createSale.lineFields.itemId": lineFields.itemId,
    "createSale.lineFields.quantity": lineFields.quantity,
    "createSale.lineFields.unitPrice": lineFields.unitPrice ?? "unitPrice",
  };
}

/** The service named another word, or refused what is configured, though the whole was not understood in the end. */
function noteRefused(probe: ComplianceProbe, { refuted }: SaleSearch): void {
  for (const path of NEEDED) {
    if (refuted.get(path)?.has(configuredNames(probe)[path]) !== true) continue;
    probe.findings.set(path, { kind: "wrong", evidence: "a sale with it is refused with 400" });
  }
}

/** @returns what to send of the fields that were found */
async function probeOptionalFields(
  probe: ComplianceProbe,
  names: SaleNames,
  number: string,
  post: (body: Readonly<Record<string, unknown>>) => Promise<Answer>,
): Promise<Record<string, unknown>> {
  const sale = unsellable(names, number);
  const strict = verdictOf(await post({ ...sale, [NO_SUCH_NAME]: "1" })) === "refused";
  const taken: string[] = Object.values(names);
  const inBody = (name: string, value: unknown): Promise<Answer> => post({ ...sale, [name]: value });
  const search = async (
    path: string,
    values: Pick<NameSearch, "valid" | "invalid">,
    how: { sendAs?: NameSearch["send"]; taken?: readonly string[] } = {},
  ): Promise<string | undefined> => {
    const { sendAs = inBody, taken: others = taken } = how;
    const names = candidates(probe, path, others);
    const result = await findName({ candidates: names, send: sendAs, verdictOf, strict, ...values });
    probe.findings.set(path, findingOf(valueAt(probe.configured, path), result));
    return result.found?.name;
  };
  const wrongType = { odd: true };
  const body: Record<string, unknown> = {};
  // A lenient service takes a sale without the price, or with one under a name that it does not know.
  if (!strict) {
    const path = "createSale.lineFields.unitPrice";
    const sendAs: NameSearch["send"] = (name, value) => post(unsellable({ ...names, [path]: name }, number, value));
    const others = [names["createSale.lineFields.itemId"], names["createSale.lineFields.quantity"]];
    await search(path, { valid: [1], invalid: "odd" }, { sendAs, taken: others });
  }
  const add = (name: string | undefined, value: unknown): void => {
    if (name === undefined) return;
    taken.push(name);
    body[name] = value;
  };
  const today = nairobiDate(Date.now());
  add(await search("createSale.fields.saleDate", { valid: [today], invalid: "not-a-date" }), today);
  const paymentType = { valid: [PAYMENT_TYPE], invalid: wrongType };
  add(await search("createSale.fields.paymentTypeCode", paymentType), PAYMENT_TYPE);
  const customer = await search("createSale.fields.customer", { valid: [{}], invalid: "not an object" });
  if (customer !== undefined) {
    const inCustomer = (name: string, value: unknown): Promise<Answer> =>
      post({ ...sale, [customer]: { [name]: value } });
    const sent: Record<string, string> = {};
    for (const [field, value] of Object.entries(CUSTOMER)) {
      const how = { sendAs: inCustomer, taken: Object.keys(sent) };
      const name = await search(`createSale.customerFields.${field}`, { valid: [value], invalid: wrongType }, how);
      if (name !== undefined) sent[name] = value;
    }
    add(customer, sent);
  }
  await search("createSale.fields.callbackUrl", { valid: [CALLBACK_URL], invalid: "not a URL" });
  await findBranch(probe, "createSale", { verdictOf, strict, send: inBody }, taken);
  const branch = foundName(probe, "createSale.fields.branch");
  const { id, authorityId } = probe.branches[1] ?? probe.branches[0] ?? {};
  const value = foundName(probe, "createSale.branchBy") === "authorityId" ? authorityId : id;
  if (branch !== undefined && value !== undefined) body[branch] = value;
  return body;
}

/** The document tells which values were taken: one that is missing was sent under a wrong name. */
function compareContent(
  probe: ComplianceProbe,
  document: Readonly<Record<string, unknown>>,
  content: SaleContent,
  optional: Readonly<Record<string, unknown>>,
): void {
  const [line = {}] = rowsIn(document["lines"]);
  const customer = fieldsOf(document["customer"]);
  const check = (path: string, sent: unknown, got: unknown): void => {
    const finding = probe.findings.get(path);
    if (finding?.kind !== "found" || sent === undefined) return;
    const isTaken = JSON.stringify(sent) === JSON.stringify(got);
    if (isTaken) probe.findings.set(path, { ...finding, evidence: "the sale in the answer has the value" });
    else probe.findings.set(path, { kind: "wrong", evidence: "its value is missing from the sale in the answer" });
  };
  check("createSale.fields.traderInvoiceNumber", content.number, document["traderInvoiceNumber"]);
  check("createSale.lineFields.itemId", content.itemId, line["itemId"]);
  check("createSale.lineFields.quantity", content.quantity, line["quantity"]);
  check("createSale.lineFields.unitPrice", content.unitPrice, line["unitPrice"]);
  const sentAs = (path: string): unknown => optional[foundName(probe, path) ?? ""];
  check("createSale.fields.saleDate", sentAs("createSale.fields.saleDate"), document["saleDate"]);
  check("createSale.fields.paymentTypeCode", sentAs("createSale.fields.paymentTypeCode"), document["paymentTypeCode"]);
  for (const [field, value] of Object.entries(CUSTOMER))
    check(`createSale.customerFields.${field}`, value, customer[field]);
}

/** Under the key of the sale a sale that cannot be made: only a service that knows the key answers with the first one. */
async function probeIdempotencyKey(
  probe: ComplianceProbe,
  saleId: string,
  again: () => Promise<Answer>,
): Promise<void> {
  const answer = await again();
  const { id } = documentOf(answer);
  const finding: Finding =
    id === saleId
      ? { kind: "found", value: "trusted", evidence: "a repeated key returned the first sale" }
      : { kind: "open", evidence: "a repeated key did not return the first sale" };
  probe.findings.set("createSale.idempotencyKey", finding);
}

async function probeCreditNote(probe: ComplianceProbe, saleId: string | undefined, number: string): Promise<Write> {
  const write = (outcome: Write["outcome"], detail: string): Write => ({
    what: "credit note",
    number,
    outcome,
    detail,
  });
  const { path } = operation("createCreditNote");
  const bodyFor = (id: string) => ({
    traderInvoiceNumber: number,
    returnDate: nairobiDate(Date.now()),
    saleId: id,
    reason: REASON_REFUND,
  });
  const { place } = await findPlace(
    probe,
    "creditNote.businessIdIn",
    async (at) => refusedOnly(await send(probe, "createCreditNote", { path, body: bodyFor(NO_SUCH_ID), place: at })),
    (answer) => verdictOf(answer) === "taken",
  );
  if (saleId === undefined) return write("not sent", "there is no sale to credit");
  if (!(await isCompleted(probe, saleId))) return write("not sent", "the sale is not completed yet");
  const body = bodyFor(saleId);
  const answer = await send(probe, "createCreditNote", { path, body, place, idempotencyKey: number });
  if (answer.kind === "unknown") return write("unknown", answer.message);
  if (answer.kind === "refused") return write("refused", `HTTP ${answer.status}${named(answer.words, body)}`);
  const { id } = documentOf(answer);
  return { what: "credit note", number, outcome: "made", ...(typeof id === "string" && { id }) };
}

/** Only an accepted sale can be credited. */
async function isCompleted(probe: ComplianceProbe, saleId: string): Promise<boolean> {
  const path = operation("getSale").path.replace("{id}", encodeURIComponent(saleId));
  for (let look = 1; look <= LOOKS; look++) {
    const answer = await send(probe, "getSale", { path });
    if (answer.kind === "refused") return false;
    const { status } = documentOf(answer);
    if (status === COMPLETED) return true;
    if (status === "failed" || status === "cancelled") return false;
    await probe.prober.wait(LOOK_EVERY_SECONDS);
  }
  return false;
}

async function probeStock(probe: ComplianceProbe, item: SeenItem, referenceId: string): Promise<Write> {
  const write = (outcome: Write["outcome"], detail: string): Write => ({
    what: "stock movement",
    number: referenceId,
    outcome,
    detail,
  });
  const { path } = operation("adjustStock");
  const { unitPrice } = item;
  const bodyFor = (itemId: string) => ({ itemId, action: "ADD", quantity: 1, unitPrice, referenceId });
  const nothing = bodyFor(NO_SUCH_ID);
  const searched = await findPlace(
    probe,
    "stock.businessIdIn",
    async (place) => refusedOnly(await send(probe, "adjustStock", { path, body: nothing, place })),
    (answer) => verdictOf(answer) === "taken",
  );
  if (verdictOf(searched.answer) !== "taken") return write("not sent", "no body was understood");
  const post = (body: Readonly<Record<string, unknown>>): Promise<Answer> =>
    send(probe, "adjustStock", { path, body, place: searched.place });
  const strict = verdictOf(await post({ ...nothing, [NO_SUCH_NAME]: "1" })) === "refused";
  const search = { verdictOf, strict, send: (name: string, value: unknown) => post({ ...nothing, [name]: value }) };
  await findBranch(probe, "stock", search);

  const branch = foundName(probe, "stock.branch") ?? probe.configured.stock.branch;
  const wanted = probe.branches[1] ?? probe.branches[0];
  const isByAuthority = (foundName(probe, "stock.branchBy") ?? probe.configured.stock.branchBy) === "authorityId";
  const selector = isByAuthority ? wanted?.authorityId : wanted?.id;
  const isWrong = probe.findings.get("stock.branch")?.kind === "wrong";
  const isNamed = branch !== null && selector !== undefined && !isWrong;
  const answer = await post({ ...bodyFor(item.id), ...(isNamed && { [branch]: selector }) });
  if (answer.kind === "unknown") return write("unknown", answer.message);
  if (answer.kind === "refused") return write("refused", `HTTP ${answer.status}${named(answer.words, nothing)}`);
  const data = fieldsOf(fieldsOf(answer.body)["data"]);
  const report = findReportName(data);
  const reportFinding: Finding =
    report === undefined
      ? { kind: "open", evidence: "the answer holds no object with stockIo or stockMaster" }
      : { kind: "found", value: report, evidence: "the answer's object with stockIo and stockMaster" };
  probe.findings.set("stock.report", reportFinding);
  if (isNamed) noteAnsweredBranch(probe, branch, data["branchId"]);
  const { movementId } = data;
  const id = typeof movementId === "string" || typeof movementId === "number" ? { id: String(movementId) } : {};
  return { what: "stock movement", number: referenceId, outcome: "made", ...id };
}

/** The branch that was asked for comes back in the answer; another one says that the selector was ignored. */
function noteAnsweredBranch(probe: ComplianceProbe, name: string, answered: unknown): void {
  const [first, asked] = probe.branches;
  if (typeof answered !== "string" || first === undefined || asked === undefined) return;
  const isAsked = answered === asked.id || answered === asked.authorityId;
  const finding: Finding = isAsked
    ? found(name, "the branch comes back in the answer")
    : { kind: "wrong", evidence: "the answer names another branch than the one that was asked for" };
  probe.findings.set("stock.branch", finding);
}

/** The fields that a refusal names, where it names some that were sent. */
function named(words: readonly string[], body: Readonly<Record<string, unknown>>): string {
  const fields = words.filter((word) => Object.hasOwn(body, word));
  return fields.length === 0 ? "" : `, which names ${fields.join(", ")}`;
}
