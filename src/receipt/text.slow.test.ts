import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { inLatin, latinBytes } from "./latin.ts";
import { qrOf } from "./qr.ts";
import { receiptEscPos, receiptText, type SaleDocument } from "./index.ts";
import { readEscPos, windows1252 } from "./test-support/read-escpos.ts";
import { lineOf, pendingSale, signedNote, signedSale, VERIFY_AT } from "./test-support/sample-document.ts";

const SELLER = { name: "Duka Moja Ltd", pin: "P051000000A", address: "Moi Avenue 12\nNairobi" };

/** Columns by the blocks of wide characters that these tests print, and not by the code under test. */
function columnsOf(text: string): number {
  return Array.from(text.normalize("NFC").replaceAll(/[\p{Mn}\p{Me}\u200D]/gu, "")).reduce(
    (sum, one) => sum + (/[\p{Script=Han}\p{Script=Hangul}\p{Emoji_Presentation}]/u.test(one) ? 2 : 1),
    0,
  );
}

function linesOf(text: string): string[] {
  expect(text.endsWith("\n")).toBe(true);
  return text.slice(0, -1).split("\n");
}

/** One character to a reader, and not to every terminal. */
const FAMILIES = Array.from({ length: 25 }, () => "\u{1F468}").join("\u200D");

const ESC = 0x1b;
const FS = 0x1c;
const GS = 0x1d;

describe("receiptText", () => {
  it("prints the seller, the document, its lines, the tax by rate, the totals and what was signed", () => {
    expect(receiptText(signedSale(), { seller: SELLER })).toBe(`\
              Duka Moja Ltd
             PIN P051000000A
              Moi Avenue 12
                 Nairobi
                 RECEIPT
Number                            INV-1001
Date                            2026-11-20
Buyer                        Wambũi & Sons
Buyer's PIN                    P051234567Z
------------------------------------------
Kericho Gold tea 500 g
  2 x 350.00                      700.00 B
Unga wa mahindi 2 kg
  0.5 x 1,980.10                  990.05 A
Chai masala
  1 x 0.10                          0.10 B
------------------------------------------
A 0%, taxable                       990.05
A 0%, tax                             0.00
B 16%, taxable                      603.54
B 16%, tax                           96.56
------------------------------------------
Taxable                           1,593.59
Tax                                  96.56
TOTAL                             1,690.15
------------------------------------------
CU invoice number           SCU00000001/12
Receipt number                          12
Receipt label                           NS
Receipt counter                         14
SCU ID                         SCU00000001
Signed                 20/11/2026 13:05:22
Internal data   0123456789ABCDEF0123456789
Signature                 A1B2C3D4E5F60718
------------------------------------------
Verify at:
https://tax-authority.example/verify?invoi
ce=SCU00000001%2F12&signature=A1B2C3D4E5F6
0718
------------------------------------------
Seller: as stated by the shop, not signed.
`);
  });

  it("prints what docs/receipts.md shows", async () => {
    const page = await readFile(new URL("../../docs/receipts.md", import.meta.url), "utf8");
    expect(page).toContain(`\n${receiptText(signedSale(), { seller: SELLER })}\`\`\`\n`);
    const [warning, rest = ""] = receiptText(pendingSale()).split(/(?<=^Number.*\n)/m);
    expect(page).toContain(`\n${warning}…\n${rest.slice(rest.indexOf("TOTAL"))}\`\`\`\n`);
  });

  it("names the receipt that a credit note reverses, and has its amounts as they are", () => {
    const text = receiptText(signedNote());
    expect(text).toMatch(/^ +CREDIT NOTE$/m);
    expect(text).toMatch(/^Reverses receipt +SCU00000001\/12$/m);
    expect(text).toMatch(/^ {2}-2 x 350\.00 +-700\.00 B$/m);
    expect(text).toMatch(/^A 0%, tax +0\.00$/m);
    expect(text).toMatch(/^TOTAL +-1,690\.15$/m);
    expect(text).not.toContain("Seller");
  });

  it.each([
    ["pending", { status: "pending", receipt: null }, "status: pending"],
    ["rejected", { status: "failed", receipt: null }, "status: failed"],
    [
      "cancelled after it was signed",
      { ...signedSale(), status: "cancelled" },
      "was cancelled, and is not valid (status: cancelled)",
    ],
    ["accepted, its receipt not known", { receipt: null }, "not known yet"],
  ])("prints a document that is %s as provisional, and nothing as signed", (_, more, why) => {
    const text = receiptText(signedSale(more));
    expect(linesOf(text).filter((line) => line.includes(" PROVISIONAL "))).toHaveLength(2);
    expect(text.replaceAll(/\s+/g, " ")).toContain(why);
    expect(text).toMatch(/^ +SALE$/m);
    expect(text).not.toMatch(/Signed|Signature|Verify|SCU0|RECEIPT$/m);
  });

  it("says of a document that its caller has given up that it was cancelled, and not of a signed one", () => {
    const failed = signedSale({ status: "failed", receipt: null });
    const wordsOf = (document: typeof failed) => receiptText(document, { cancelled: true }).replaceAll(/\s+/g, " ");
    expect(wordsOf(failed)).toContain("This document was cancelled, and is not valid (status: failed).");
    expect(wordsOf(signedSale())).not.toContain("cancelled");
  });

  it("names the sale by its id on a credit note that is not signed yet", () => {
    const text = receiptText({ ...signedNote(), status: "pending", receipt: null });
    expect(text).toMatch(/^Reverses sale +sal_1$/m);
  });

  it("names the sale that a credit note reverses by its own number and date, where they are given", () => {
    const reverses = signedSale();
    for (const note of [signedNote(), { ...signedNote(), status: "pending", receipt: null }]) {
      expect(receiptText(note, { reverses })).toMatch(/^Reverses sale +INV-1001 of 2026-11-20$/m);
      expect(receiptText(note, { reverses: { ...reverses, saleDate: null } })).toMatch(/^Reverses sale +INV-1001$/m);
    }
    expect(receiptText(signedNote(), { reverses })).toMatch(/^Reverses receipt +SCU00000001\/12$/m);
    expect(receiptText(signedSale(), { reverses })).not.toContain("Reverses");
  });

  it("prints the reason of a credit note in words, and says that it is the shop's own", () => {
    const options = { reason: "03", seller: SELLER } as const;
    const { seller: _seller, ...unnamed } = options;
    expect(receiptText(signedNote(), unnamed)).toMatch(/^Reason +damaged \(03\)$/m);
    expect(receiptText(signedNote(), unnamed)).toMatch(/^Reason: as stated by the shop, not signed\.$/m);
    const named = receiptText(signedNote(), options).replaceAll(/\s+/g, " ");
    expect(named).toContain("Seller and reason: as stated by the shop, not signed.");
    expect(receiptText(signedSale(), unnamed)).toBe(receiptText(signedSale()));
  });

  it("leaves out what the document does not have", () => {
    const bare = signedSale({ customer: null, saleDate: null, receipt: { cuInvoiceNo: "CU-1", scuTime: "" } });
    const line = lineOf(null, { description: "", taxTypeCode: null });
    const text = receiptText({ ...bare, lines: [line] });
    expect(text).not.toMatch(/null|undefined|Buyer|Date|Signed|Verify/);
    expect(text).toMatch(/^item_1\n {2}2 x 350\.00 +700\.00 16%$/m);
    expect(text).toMatch(/^16%, tax +96\.55$/m);
  });

  it("says how many lines it does not list, where the document was given without them", () => {
    const text = receiptText(signedSale({ lines: [], linesLeftOut: { count: 150 } }));
    expect(text).toContain("150 lines, which are not listed here.");
    expect(text).toMatch(/^TOTAL +1,690\.15$/m);
    expect(text).not.toContain("16%");
  });

  it("fits into 42 columns, and wraps long names completely", () => {
    const letter = fc.constantFrom("a", " ", "W", "ũ", "u\u0303", "茶", "한", "\u{1F375}", "का", FAMILIES, "-");
    const name = fc.string({ unit: letter, minLength: 1, maxLength: 120, size: "max" });
    const bare = (of: string): string => of.replaceAll(/\s/g, "");
    fc.assert(
      fc.property(name, fc.double({ min: -1e15, max: 1e15, noNaN: true }), (text, amount) => {
        const line = lineOf(text, { quantity: amount, unitPrice: amount, total: amount });
        const document = signedSale({ customer: { name: text, pin: text }, traderInvoiceNumber: text, lines: [line] });
        const printed = receiptText(document, { seller: { name: text, address: text } });
        for (const one of linesOf(printed)) expect(columnsOf(one)).toBeLessThanOrEqual(42);
        expect(bare(printed)).toContain(bare(text) || "item_1");
      }),
    );
  });

  it("removes control characters that a printer or a terminal would obey", () => {
    const hostile = "Tea\u001B@\u001DV\u0000\nTOTAL 0.00\u202E";
    const document: SaleDocument = signedSale({ lines: [lineOf(hostile)], customer: { name: hostile } });
    for (const text of [receiptText(document), readEscPos(receiptEscPos(document)).lines.join("\n")])
      expect(text).not.toMatch(/(?!\n)\p{Cc}|\u202E|^TOTAL 0\.00/mu);
  });
});

describe("receiptEscPos", () => {
  it("prints the same lines in letters that the printer has, and the QR code of the verification address", () => {
    const printed = readEscPos(receiptEscPos(signedSale(), { seller: SELLER }));
    const text = receiptText(signedSale(), { seller: SELLER }).replace("Wambũi", "Wambui");
    expect(printed).toMatchObject({ qr: VERIFY_AT, inverted: [] });
    expect(printed.lines.join("\n").trimEnd()).toBe(text.trimEnd());
    expect(printed.qrDrawn).toEqual({ model: 2, dots: 6, correction: "M", isCentred: true });
    expect(printed.cuts).toEqual([printed.lines.length]);
  });

  it("prints letters beyond ASCII in the code page that it chooses, and never a byte that the printer takes for more", () => {
    const names = { name: "Café Ñandú “Zoë” – €5", pin: "P1" };
    const { lines } = readEscPos(receiptEscPos(signedSale({ lines: [lineOf("Crème brûlée Ø ß")], customer: names })));
    expect(lines.join("\n")).toContain("Café Ñandú “Zoë” – €5");
    expect(lines.join("\n")).toContain("Crème brûlée Ø ß");
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.webUrl(), (name, verificationUrl) => {
        const sale = signedSale({ lines: [lineOf(name)], customer: { name, pin: name }, receipt: { verificationUrl } });
        const printed = readEscPos(receiptEscPos(sale, { seller: { name, address: name } }));
        expect(printed).toMatchObject({ qr: verificationUrl, cuts: [printed.lines.length] });
        for (const line of printed.lines) expect(line.length).toBeLessThanOrEqual(42);
      }),
    );
  });

  it.each([
    { wrong: "a command that is none", bytes: [ESC, 0x40, ESC, 0x7a, 1] },
    { wrong: "no initialisation", bytes: [ESC, 0x74, 16] },
    { wrong: "a command cut short", bytes: [ESC, 0x40, GS, 0x56, 66] },
    { wrong: "a letter in Chinese mode", bytes: [ESC, 0x40, ESC, 0x74, 16, 0xe9, 0x0a] },
    { wrong: "a letter without its code page", bytes: [ESC, 0x40, FS, 0x2e, 0xe9, 0x0a] },
    { wrong: "a code without a letter", bytes: [ESC, 0x40, FS, 0x2e, ESC, 0x74, 16, 0x81, 0x0a] },
    { wrong: "a tab", bytes: [ESC, 0x40, 0x09] },
    { wrong: "a cut within a line", bytes: [ESC, 0x40, 0x41, GS, 0x56, 66, 0] },
    { wrong: "a QR command that is longer than it says", bytes: [ESC, 0x40, GS, 0x28, 0x6b, 3, 0, 49, 65, 50, 0] },
    { wrong: "a QR code without data", bytes: [ESC, 0x40, GS, 0x28, 0x6b, 3, 0, 49, 81, 48] },
    { wrong: "a line without its end", bytes: [ESC, 0x40, 0x41] },
  ])("is read by a reader that refuses $wrong", ({ bytes }) => {
    expect(() => readEscPos(Uint8Array.from(bytes))).toThrow(/ byte \d+$/);
  });

  it("keeps the columns where a wide character becomes a narrow one", () => {
    const document = signedSale({ lines: [lineOf("茶".repeat(50))], customer: { name: "茶 €5" } });
    const { lines } = readEscPos(receiptEscPos(document));
    expect(lines).toContain(`Buyer${" ".repeat(33)}? €5`);
    expect(Math.max(...lines.map((line) => line.length))).toBe(42);
  });

  it("prints soft hyphens neither as letters nor beyond the columns", () => {
    const name = "su\u00ADper\u00ADmar\u00ADket ".repeat(9);
    const document = signedSale({ lines: [lineOf(name)], customer: { name, pin: null } });
    const { lines } = readEscPos(receiptEscPos(document, { seller: { name } }));
    for (const printed of [lines, linesOf(receiptText(document, { seller: { name } }))]) {
      expect(printed.join("\n")).not.toContain("\u00AD");
      expect(Math.max(...printed.map((line) => line.length))).toBeLessThanOrEqual(42);
      expect(printed.join(" ")).toContain("supermarket supermarket");
    }
  });

  it.each([
    { bytes: 92, modules: 41, dots: 6 },
    { bytes: 362, modules: 73, dots: 6 },
    { bytes: 363, modules: 77, dots: 5 },
    { bytes: 667, modules: 101, dots: 4 },
    { bytes: 1_500, modules: 145, dots: 3 },
    { bytes: 2_331, modules: 177, dots: 2 },
  ])("prints the QR code of an address of $bytes bytes within the paper, by modules of $dots dots", (code) => {
    const { bytes, modules, dots } = code;
    const verificationUrl = "https://tax-authority.example/".padEnd(bytes, "x");
    const { qr, qrDrawn } = readEscPos(receiptEscPos(signedSale({ receipt: { verificationUrl } })));
    expect(qr).toBe(verificationUrl);
    expect(qrDrawn).toMatchObject({ dots, isCentred: true });
    // 42 characters of 12 dots each, and four light modules on either side.
    expect((modules + 8) * dots).toBeLessThanOrEqual(504);
    expect(qrOf(verificationUrl)?.size).toBe(modules + 8);
  });

  it("prints what is not signed in white on black, and no QR code", () => {
    const { inverted, qr } = readEscPos(receiptEscPos(pendingSale()));
    expect(inverted.map((line) => line.replaceAll(/[* ]+/g, " ").trim())).toEqual([
      "PROVISIONAL",
      "NOT A TAX RECEIPT",
      "PROVISIONAL",
      "NOT A TAX RECEIPT",
    ]);
    expect(qr).toBeUndefined();
  });

  it("prints the address as text where it is too long for a QR code", () => {
    const verificationUrl = `https://tax-authority.example/${"x".repeat(2400)}`;
    const { lines, qr } = readEscPos(receiptEscPos(signedSale({ receipt: { verificationUrl } })));
    expect(qr).toBeUndefined();
    expect(lines.join("")).toContain(verificationUrl);
  });
});

describe("inLatin", () => {
  it("maps each letter to Windows-1252, or to its closest letters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const latin = inLatin(text);
        expect(windows1252(latinBytes(latin))).toBe(latin);
      }),
    );
    expect(inLatin("Mũthoni Ĩ “café” Ångström ﬁ ½ 茶")).toBe("Muthoni I “café” Ångström fi ½ ?");
  });
});
