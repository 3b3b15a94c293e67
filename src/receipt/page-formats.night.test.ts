import { afterEach, describe, expect, it, vi } from "vitest";

import { receiptEscPos, receiptHtml, receiptPdf, receiptText, type SaleDocument } from "./index.ts";
import { readPdf } from "./test-support/read-pdf.ts";
import { readSvgQr } from "./test-support/read-qr.ts";
import { lineOf, pendingSale, signedNote, signedSale, VERIFY_AT } from "./test-support/sample-document.ts";

const SELLER = { name: "Duka Moja Ltd", pin: "P051000000A" };
const HOSTILE = `<script>alert(1)</script><img src=x onerror="a()">'&amp;`;

const REFERENCES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The texts of a page without its marks. */
function textOf(html: string): string {
  const body = html.slice(html.indexOf("<body"));
  return body
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => REFERENCES[name] ?? "")
    .replaceAll(/\s+/g, " ");
}

describe("receiptHtml", () => {
  it("shows the content of the text receipt, and a QR code with the verification address", () => {
    const html = receiptHtml(signedSale(), { seller: SELLER });
    const text = textOf(html);
    for (const value of [
      "Duka Moja Ltd",
      "INV-1001",
      "Wambũi & Sons",
      "0.5 1,980.10 A 990.05",
      "B 16% 603.54 96.56 700.10",
    ])
      expect(text).toContain(value);
    for (const value of ["Total 1,690.15", "SCU00000001/12", "20/11/2026 13:05:22", "A1B2C3D4E5F60718", VERIFY_AT])
      expect(text).toContain(value);
    expect(text).toContain("Seller: as stated by the shop, not signed.");
    expect(text).not.toContain("PROVISIONAL");
    expect(readSvgQr(html)).toBe(VERIFY_AT);
  });

  it("escapes every text, runs nothing and loads nothing", () => {
    const receipt = { cuInvoiceNo: HOSTILE, verificationUrl: `javascript:${HOSTILE}` };
    const customer = { name: HOSTILE, pin: HOSTILE };
    const document = signedSale({ traderInvoiceNumber: HOSTILE, customer, lines: [lineOf(HOSTILE)], receipt });
    const html = receiptHtml(document, { seller: { name: HOSTILE, address: HOSTILE } });
    expect(textOf(html).split(HOSTILE)).toHaveLength(9);
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, tag]) => tag));
    expect([...tags].filter((tag) => /^(a|script|img|link|iframe|object)$/.test(tag ?? ""))).toEqual([]);
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(receiptHtml(signedSale()).match(/\b(?:src|href)=[^ ]*|url\(|@import/g)).toEqual([
      `href="${VERIFY_AT.replaceAll("&", "&amp;")}"`,
    ]);
  });

  it("shows what is not signed as provisional, on every printed page, with no QR code", () => {
    const html = receiptHtml(pendingSale());
    expect(html).toContain('<body class="provisional">');
    expect(textOf(html)).toContain("PROVISIONAL NOT A TAX RECEIPT The tax authority has not signed");
    expect(html).toContain("<title>PROVISIONAL: Sale INV-1001</title>");
    // On a phone too, the word stays on one line.
    expect(html).toContain("font: bold min(5rem, 11vw) sans-serif; white-space: nowrap");
    expect(html).not.toContain("<svg");
  });
});

describe("receiptPdf", () => {
  it("shows the content of the text receipt, and a QR code with the verification address", async () => {
    const [page, ...others] = await readPdf(await receiptPdf(signedSale(), { seller: SELLER }));
    expect(others).toEqual([]);
    expect(page?.qr).toBe(VERIFY_AT);
    for (const value of [
      "Duka Moja Ltd",
      "INV-1001",
      "Wambui & Sons",
      "0.5 1,980.10 A 990.05",
      "B 16% 603.54 96.56 700.10",
    ])
      expect(page?.text).toContain(value);
    for (const value of ["Total 1,690.15", "SCU00000001/12", "20/11/2026 13:05:22", "A1B2C3D4E5F60718", VERIFY_AT])
      expect(page?.text).toContain(value);
    expect(page?.text).toContain("Seller: as stated by the shop, not signed.");
    expect(page?.text).not.toContain("PROVISIONAL");
  });

  it("names the receipt and the sale that a credit note reverses, and the reason", async () => {
    const options = { reverses: signedSale(), reason: "03" } as const;
    const [page] = await readPdf(await receiptPdf(signedNote(), options));
    for (const text of [page?.text ?? "", textOf(receiptHtml(signedNote(), options))]) {
      expect(text).toMatch(/Reverses sale\s+INV-1001 of 2026-11-20\s/);
      expect(text).toMatch(/Reason\s+damaged \(03\)\s/);
      expect(text).toContain("Reason: as stated by the shop, not signed.");
    }
    expect(page?.text).toMatch(/^Credit note$/m);
    expect(page?.text).toMatch(/^Reverses receipt SCU00000001\/12$/m);
    expect(page?.text).toMatch(/^Total -1,690\.15$/m);
  });

  it("continues over pages, each with the table's head; signed values and QR code stay on one page", async () => {
    for (const count of [22, 23, 24, 90]) {
      const lines = Array.from({ length: count }, (_, n) => lineOf(`Item ${n} of many`));
      const pages = await readPdf(await receiptPdf(signedSale({ lines })));
      const text = pages.map((page) => page.text).join("\n");
      expect(text.match(/^Item \d+ of many\s2 350\.00\sB 700\.00$/gm)).toHaveLength(count);
      const withItems = pages.filter((page) => page.text.includes(" of many"));
      for (const page of withItems) expect(page.text).toMatch(/^Item Quantity Price Tax Total$/m);
      const signedOn = pages.filter((page) => /CU invoice|Signature|Verify at/.test(page.text));
      expect(signedOn).toEqual([expect.objectContaining({ qr: VERIFY_AT })]);
      expect(pages.at(-1)?.text).toContain(`page ${pages.length} of ${pages.length}`);
    }
  });

  it("marks each page of what is not signed as provisional, and has no QR code", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => lineOf(`Item ${n}`));
    const pages = await readPdf(await receiptPdf({ ...pendingSale(), lines }));
    expect(pages.length).toBeGreaterThan(1);
    for (const { text, qr } of pages)
      expect({ text, qr }).toEqual({ text: expect.stringMatching(/^PROVISIONAL$/m), qr: undefined });
    expect(pages[0]?.text).toContain("NOT A TAX RECEIPT");
  });

  it("cuts a name that is longer than a page, and prints the rest", async () => {
    const lines = [lineOf("very long ".repeat(3000)), lineOf("Tea")];
    const pages = await readPdf(await receiptPdf(signedSale({ lines })));
    const text = pages.map((page) => page.text).join("\n");
    expect(text).toMatch(/^Tea 2 350\.00 B 700\.00$/m);
    expect(pages.length).toBeLessThanOrEqual(4);
    expect(pages.map(({ qr }) => qr)).toContain(VERIFY_AT);
  });

  it("refuses a file that is no font", async () => {
    await expect(receiptPdf(signedSale(), { font: new Uint8Array([1, 2, 3]) })).rejects.toThrow(/font/i);
  });
});

describe("the receipt of one document", () => {
  it.each([null, undefined, { stage: "completed", sale: signedSale() }, "INV-1001"])(
    "is refused where %j is given in its place",
    async (given) => {
      const document = given as unknown as SaleDocument;
      const expected = "expected the document: outcome.sale or outcome.creditNote";
      for (const format of [receiptText, receiptEscPos, receiptHtml]) {
        expect(() => format(document)).toThrow(TypeError);
        expect(() => format(document)).toThrow(expected);
      }
      await expect(receiptPdf(document)).rejects.toThrow(expected);
    },
  );

  const zone = process.env["TZ"];
  afterEach(() => {
    vi.useRealTimers();
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  it("has the same bytes whenever and wherever it is printed", async () => {
    const printed = async () => [
      receiptText(signedSale()),
      receiptHtml(signedSale()),
      Buffer.from(receiptEscPos(signedSale())).toString("base64"),
      Buffer.from(await receiptPdf(signedSale())).toString("base64"),
      Buffer.from(await receiptPdf(pendingSale())).toString("base64"),
    ];
    const first = await printed();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 0, 1) });
    process.env["TZ"] = "Pacific/Auckland";
    expect((await printed()).map((one, n) => one === first[n])).toEqual([true, true, true, true, true]);
  });

  it("dates its PDF as it was signed, in Nairobi's time", async () => {
    const file = Buffer.from(await receiptPdf(signedSale())).toString("latin1");
    expect(file.match(/\(D:[^)]*\)/g)).toEqual(["(D:20261120100522Z)"]);
  });
});
