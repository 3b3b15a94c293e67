import fc from "fast-check";

/** Any text that the schemas accept where a printable text of up to `maxLength` characters is asked for. */
export function printable(maxLength: number): fc.Arbitrary<string> {
  const character = fc.oneof(
    fc.constantFrom("/", "~", "%", ".", "-", " ", ":", "\u{1F9FE}", "é", "中", "'"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((one) => !/\p{Cc}/u.test(one)),
    fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }),
  );
  return fc.string({ unit: character, minLength: 1, maxLength });
}

/** An invoice number of a sale that we issue ourselves. */
const invoiceNumber = printable(50);

/** An invoice number of an adopted sale, long enough for ids that have to be cut. */
export const anyInvoiceNumber = fc.oneof(
  invoiceNumber,
  fc.tuple(fc.integer({ min: 1, max: 400 }), invoiceNumber).map(([length, end]) => "x".repeat(length) + end),
);

const businessId = fc.oneof(
  fc.constant(undefined),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
    .filter((text) => Buffer.byteLength(text) <= 64 && text !== "-"),
);

const connection = fc.stringMatching(/^[a-z0-9-]{1,32}$/);

export const saleIdentity = fc.record({ connection, businessId, traderInvoiceNumber: anyInvoiceNumber });
