import { ERASED, fingerprintOf, saleContent, type SaleContent, saleOfContent } from "../../contract/index.ts";
import { canonicalJson } from "../events/chain.ts";

/**
 * What of a customer goes: how to reach them, or all that is known of them. The books need the rest for as long as the
 * law has them kept.
 */
export type Erased = "contact" | "customer";

const CONTACT = ["phone", "email"];
/** Texts for people, in which the service, the product or an operator may have named somebody. */
const WORDS = new Set([
  "message",
  "error",
  "reason",
  "note",
  "by",
  "detail",
  "details",
  "cancelRequested",
  "creditNoteCancelRequested",
  "evidence",
]);
/** A part of what the service answered, which may end in the middle of a name. */
const EXCERPT = "bodyExcerpt";
/** Of the service's document: they name nobody. What else it has is searched for what goes. */
const OF_BOOKS = new Set([
  "id",
  "type",
  "status",
  "traderInvoiceNumber",
  "saleDate",
  "paymentTypeCode",
  "lines",
  "linesLeftOut",
  "totals",
  "receipt",
  "originalSaleId",
  "callback",
]);
/** A shorter text is as likely to be a part of another word. */
const SHORTEST_WORD = 4;

type Json = Readonly<Record<string, unknown>>;

/**
 * Takes out of JSON what is said of the customers of some contents: the fields of each `customer`, and what they said
 * wherever else it is repeated. A fingerprint of what was asked for becomes that of what is left, since one that is known
 * tells whether a guess is right.
 * @param contents all in which these customers are named
 */
export function redactionOf(erased: Erased, contents: readonly unknown[]): (json: unknown) => unknown {
  const values = new Set<string>();
  for (const customer of contents.flatMap(customersIn))
    for (const [field, value] of Object.entries(customer))
      if (goes(erased, field) && isText(value) && value.length >= SHORTEST_WORD) values.add(value);
  // The longest first: it may have another one in it.
  const words = [...values].toSorted((one, other) => other.length - one.length);
  const withoutWords = (text: string): string => words.reduce((left, word) => left.replaceAll(word, ERASED), text);
  const without = (json: unknown, isSearched: boolean): unknown => {
    if (typeof json === "string") return isSearched ? withoutWords(json) : json;
    if (Array.isArray(json)) return json.map((part) => without(part, isSearched));
    if (!isObject(json)) return json;
    return Object.fromEntries(
      Object.entries(json).map(([name, part]) => {
        if (name === "customer" && isObject(part)) return [name, customerWithout(erased, part)];
        if (name === "document" && isObject(part)) return [name, documentWithout(part)];
        if (name === EXCERPT && isText(part)) return [name, ERASED];
        return [name, without(part, isSearched || WORDS.has(name))];
      }),
    );
  };
  const documentWithout = (document: Json): Json =>
    Object.fromEntries(
      Object.entries(document).map(([name, part]) => {
        if (name === "customer" && isObject(part)) return [name, customerWithout(erased, part)];
        return [name, without(part, !OF_BOOKS.has(name))];
      }),
    );
  const fingerprints: Fingerprints = new Map(
    contents.flatMap((content) => fingerprintsIn(content, (json) => without(json, false))),
  );
  return (json) => withFingerprints(without(json, false), fingerprints);
}

/** What of a document is kept if somebody reads it at the service once more. */
export function keptErased<Document extends { customer?: unknown }>(
  known: Document | null,
  answered: Document,
): Document {
  const [before, now] = [known?.customer, answered.customer];
  if (!isObject(before) || !isObject(now) || !Object.values(before).includes(ERASED)) return answered;
  const isAll = before["name"] === ERASED || before["pin"] === ERASED;
  const redacted = redactionOf(isAll ? "customer" : "contact", [{ customer: now }]);
  return (redacted({ document: answered }) as { document: Document }).document;
}

function customerWithout(erased: Erased, customer: Json): Json {
  return Object.fromEntries(
    Object.entries(customer).map(([field, value]) => [
      field,
      goes(erased, field) && value !== null && value !== "" ? ERASED : value,
    ]),
  );
}

function goes(erased: Erased, field: string): boolean {
  return CONTACT.includes(field) || erased === "customer";
}

/** Whether something of a customer is still there to be erased. */
export function namesCustomer(erased: Erased, content: unknown): boolean {
  return customersIn(content).some(
    (customer) => canonicalJson(customerWithout(erased, customer)) !== canonicalJson(customer),
  );
}

function customersIn(json: unknown): Json[] {
  if (Array.isArray(json)) return json.flatMap(customersIn);
  if (!isObject(json)) return [];
  return Object.entries(json).flatMap(([name, part]) => [
    ...(name === "customer" && isObject(part) ? [part] : []),
    ...customersIn(part),
  ]);
}

/** That of each content that was asked for, and that of what is left of it. */
function fingerprintsIn(json: unknown, without: (json: unknown) => unknown): [string, string][] {
  if (!isObject(json)) return [];
  const { fingerprint, content } = json;
  if (typeof fingerprint !== "string" || !isObject(content)) return [];
  const left = without(content) as SaleContent;
  // As the next start by the number alone computes it.
  return [[fingerprint, fingerprintOf(saleContent(saleOfContent(left), left.businessId ?? undefined))]];
}

type Fingerprints = ReadonlyMap<string, string>;

/** One whose content nobody has, as of a corrected sale that was refused, tells too whether a guess is right. */
function fingerprintLeft(fingerprint: string, known: Fingerprints): string {
  return known.get(fingerprint) ?? ([...known.values()].includes(fingerprint) ? fingerprint : ERASED);
}

function withFingerprints(json: unknown, known: Fingerprints): unknown {
  if (Array.isArray(json)) return json.map((part) => withFingerprints(part, known));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, part]) => [
      name,
      name === "fingerprint" && typeof part === "string" ? fingerprintLeft(part, known) : withFingerprints(part, known),
    ]),
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value !== ERASED;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
