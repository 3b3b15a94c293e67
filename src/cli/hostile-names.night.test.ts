import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { detailsPage } from "../../workflows/operator/updates.ts";
import { type Attention, RESOLVED_BY } from "../contract/index.ts";
import { boundedSummary } from "../contract/ids.ts";
import { HARMLESS_NAMES, HOSTILE_NAMES } from "../contract/test-support/hostile-names.ts";
import { saleLine } from "../dev/demo/run-sales.ts";
import { createTestLedger, type TestLedger } from "../ledger/test-support/create-test-ledger.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../ledger/test-support/records.ts";
import { receiptEscPos, receiptHtml, receiptPdf, receiptText, type SaleDocument } from "../receipt/index.ts";
import { inLatin } from "../receipt/latin.ts";
import { readEscPos } from "../receipt/test-support/read-escpos.ts";
import { readPdfText } from "../receipt/test-support/read-pdf.ts";
import { lineOf, signedSale } from "../receipt/test-support/sample-document.ts";
import { createLogger, temporalLogger } from "../worker/create-logger.ts";
import { describeError } from "./context.ts";
import { printNote, printResult } from "./output.ts";
import { plainTable } from "./tables.ts";
import { renderHtml } from "./report/page.ts";
import { renderText } from "./report/run-report.ts";
import { renderState } from "./sale/show.ts";
import { callCli } from "./test-support/call-cli.ts";
import { csvRows } from "./test-support/csv-rows.ts";
import { NOW_MS, sampleReport } from "./test-support/sample-report.ts";

/** Each by its own number, so that the rows of a list can be told apart. */
const NAMES: readonly (readonly [number: string, what: string, name: string])[] = [
  ...HOSTILE_NAMES.map(([what, name]) => [what, name] as const),
  ...HARMLESS_NAMES.map((name) => ["a harmless name", name] as const),
].map(([what, name], index) => [`INV-${100 + index}`, what, name]);

/** By code points, and not by the patterns of the code under test. */
const BIDI = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
const UNSEEN = [0xad, 0x34f, 0x115f, 0x180e, 0x200b, 0x2060, 0x3164, 0xfeff, 0xffa0, 0xfff9, 0xfffa, 0xfffb];

function demoLine(title: string): string {
  const input = { traderInvoiceNumber: "DUKA-1001", saleId: "sal_1" };
  const example = { title, invoice: "DUKA-1001", input, refund: undefined, expected: { stage: "completed" } } as const;
  const sale = {
    example,
    workflowId: "sale/1",
    stage: "completed",
    waitingFor: "",
    startedAtMs: 0,
    endedAtMs: 0,
  } as const;
  return saleLine(sale, [sale]);
}

function isObeyed(code: number): boolean {
  const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return isControl || isHalf || BIDI.includes(code) || code === 0x2028 || code === 0x2029;
}

function isUnseen(code: number): boolean {
  return UNSEEN.includes(code) || (code >= 0xe0001 && code <= 0xe007f);
}

/** What an output may not hold, but for the line feeds of its own. */
function foundIn(text: string, own = "\n"): string[] {
  const odd = Array.from(text).filter((one) => {
    const code = one.codePointAt(0) ?? 0;
    return !own.includes(one) && (isObeyed(code) || isUnseen(code));
  });
  const found = odd.map((one) => `U+${(one.codePointAt(0) ?? 0).toString(16)}`);
  return [...new Set([...found, ...(/\p{M}{9}/u.test(text) ? ["a stack of marks"] : [])])];
}

const PLAIN = "Mama Mboga";
const linesOf = (text: string): number => text.split("\n").length;

function isClean(text: string, likeIt: string): void {
  expect(foundIn(text)).toEqual([]);
  // A name has no line of its own, and cannot look like a row, an attention or a total.
  expect(linesOf(text)).toBe(linesOf(likeIt));
}

function isOneJson(text: string, name: string): void {
  expect(foundIn(text)).toEqual([]);
  expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(name).slice(1, -1));
}

/** What a spreadsheet would take for a formula, in Excel, LibreOffice and Google Sheets. */
function isFormula(cell: string): boolean {
  return /(^|;)[\s\p{Z}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\u2212]/u.test(cell) && !/^-?[\d.]*$/.test(cell);
}

function isCsv(text: string): void {
  expect(foundIn(text, "")).toEqual([]);
  const cells = [...text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? "",
  );
  expect(cells.filter(isFormula)).toEqual([]);
}

function tagsOf(html: string): string[] {
  return [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, '""'));
}

function isHtml(html: string, likeIt: string): void {
  expect(foundIn(html)).toEqual([]);
  expect(tagsOf(html)).toEqual(tagsOf(likeIt));
}

const htmlWords = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"');

/** Outside of code, nothing of a name is left that Markdown has a meaning for. */
function isMarkdown(page: string, likeIt: string): void {
  isClean(page, likeIt);
  const bare = (text: string): string => text.replaceAll(/```json\n[\s\S]*?\n```/g, "").replaceAll(/`[^`\n]*`/g, "``");
  expect(bare(page)).toBe(bare(likeIt));
}

const attention = (message: string): Attention => ({
  code: "document-unknown",
  message,
  evidence: { answered: message },
  sinceMs: 0,
  resolvedBy: RESOLVED_BY["document-unknown"],
});

/** What a command writes by these functions, on either stream. */
function printed(print: (context: Parameters<typeof printResult>[0]) => void): string {
  let text = "";
  const stream = { write: (piece: string) => ((text += piece), true) };
  const context = { stdout: stream, stderr: stream } as unknown as Parameters<typeof printResult>[0];
  print(context);
  return text;
}

function logged(log: (logger: ReturnType<typeof createLogger>) => void): string {
  let lines = "";
  log(createLogger("trace", { write: (line) => (lines += line) }, "fiscalflow"));
  return lines;
}

function namedSale(name: string): SaleDocument {
  return signedSale({
    traderInvoiceNumber: name,
    customer: { name, pin: name },
    lines: [lineOf(name, { taxTypeCode: name, description: name })],
    receipt: {
      cuInvoiceNo: name,
      receiptLabel: name,
      signature: name,
      verificationUrl: `https://tax.example/${name.slice(0, 100)}`,
    },
  });
}

const seller = (name: string) => ({ seller: { name, pin: name } });

interface Output {
  what: string;
  made: (name: string, number: string) => string | Promise<string>;
  isClean: (made: string, likeIt: string, name: string) => void;
  /** A harmless name as the output has it. */
  shows?: (name: string) => string;
  words?: (made: string) => string;
}

/** Of the ledger's one business that has all names. */
const dumps: Record<string, string> = {};
const lineWith = (dump: string, number: string): string =>
  dumps[dump]?.split(/\r?\n/).find((line) => new RegExp(`\\b${number}\\b`).test(line)) ?? "";

const latin = (name: string): string => inLatin(name);
const squeezed = (text: string): string => text.replaceAll(/\s+/g, "");

const OUTPUTS: readonly Output[] = [
  {
    what: "a result for people",
    made: (name) => printed((context) => printResult(context, false, {}, renderState(...stateOf(name)))),
    isClean,
  },
  { what: "a note", made: (name) => printed((context) => printNote(context, `Of ${name}.`)), isClean: isCleanText },
  {
    what: "an error",
    made: (name) => describeError(new Error(`No ${name}`)).message,
    isClean: isCleanText,
  },
  { what: "a table", made: (name) => plainTable(["BUYER", "TOTAL"], [[name, "1"]], [1]), isClean },
  { what: "a line of the demo", made: (name) => demoLine(name), isClean },
  {
    what: "a result for machines",
    made: (name) => printed((context) => printResult(context, true, { name, [name]: [name] }, "")),
    isClean: (text, _, name) => isOneJson(text, name),
    words: (text) => text.replaceAll('\\"', '"'),
  },
  { what: "the documents as a table", made: (_, number) => lineWith("table", number), isClean },
  { what: "the documents as CSV", made: (_, number) => lineWith("csv", number), isClean: isCsv },
  {
    what: "the documents as JSON",
    made: (_, number) => lineWith("json", number).replace(/,$|\]\}.*$/g, ""),
    isClean: (text, _, name) => isOneJson(text, storable(name)),
  },
  {
    what: "the report as text",
    made: (name) => renderText(...reportOf(name)),
    isClean,
  },
  { what: "the report as HTML", made: (name) => renderHtml(...reportOf(name)), isClean: isHtml, words: htmlWords },
  {
    what: "the receipt as text",
    made: (name) => receiptText(namedSale(name), seller(name)),
    isClean: isCleanText,
    shows: squeezed,
    words: squeezed,
  },
  {
    what: "the receipt as HTML",
    made: (name) => receiptHtml(namedSale(name), seller(name)),
    isClean: isHtml,
    words: htmlWords,
  },
  {
    what: "the receipt as ESC/POS",
    made: (name) => readEscPos(receiptEscPos(namedSale(name), seller(name))).lines.join("\n"),
    isClean: (text) => {
      expect(foundIn(text)).toEqual([]);
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(42);
    },
    shows: (name) => squeezed(latin(name)),
    words: squeezed,
  },
  {
    what: "the receipt as PDF",
    made: async (name) => await readPdfText(await receiptPdf(namedSale(name), seller(name))),
    isClean: (text) => expect(foundIn(text)).toEqual([]),
    shows: (name) => squeezed(latin(name)),
    words: squeezed,
  },
  {
    what: "a line of the log",
    made: (name) => logged((log) => log.warn({ name, err: new Error(name) }, `Of ${name}`)),
    isClean: (line) => {
      expect(foundIn(line)).toEqual([]);
      expect(linesOf(line)).toBe(2);
      expect(JSON.parse(line)).toMatchObject({ level: "warn" });
    },
  },
  {
    what: "a line of Temporal's SDK in the log",
    made: (name) => logged((log) => temporalLogger(log).warn(`Of ${name}`, { name })),
    isClean: (line) => expect(foundIn(line)).toEqual([]),
  },
  {
    what: "the details in Temporal's UI",
    made: (name) => detailsPage([attention(name)], []),
    isClean: isMarkdown,
  },
  {
    what: "a summary in Temporal's UI",
    made: (name) => boundedSummary(`Sale ${name}`),
    isClean,
  },
];

/** A text of several lines, whose line ends may be somebody's. */
function isCleanText(text: string): void {
  expect(foundIn(text)).toEqual([]);
}

/** PostgreSQL keeps neither NUL nor a half of a character. */
function storable(name: string): string {
  return name.replaceAll("\u0000", "").replaceAll(/\p{Cs}/gu, "\uFFFD");
}

function stateOf(name: string): Parameters<typeof renderState> {
  const document = { ...namedSale(name), error: name };
  const decision = { atMs: 0, update: "acknowledge", note: name, by: name } as const;
  const state = {
    source: "workflow",
    workflow: "sale",
    stage: "completed",
    waitingFor: "an operator",
    document,
    attentions: [attention(name)],
    stockMovements: [],
    decisions: [decision],
    cancelRequested: name,
    callbacksReceived: 0,
    numberTaken: true,
    nextWait: 0,
  } as unknown as Parameters<typeof renderState>[2];
  return [`Sale ${name}`, "sale/default/biz_1/INV-1", state, { invoice: "INV-1" }];
}

function reportOf(name: string): Parameters<typeof renderHtml> {
  const report = sampleReport();
  const [item] = report.movements;
  const [sale] = report.open;
  if (!item || !sale) throw new Error("the sample has both");
  const named = { ...report, movements: [{ ...item, name }], open: [{ ...sale, number: name }] };
  const period = { kind: "month", from: "2026-11-01", to: "2026-11-30" } as const;
  return [[named], { period, nowMs: NOW_MS, sellerOf: () => ({ name }) }];
}

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger(15_000);
  await test.ledger.ready();
  const business = someBusiness();
  for (const [number, , name] of NAMES) {
    const document = documentOf(number, { customer: { name, pin: name }, saleDate: "2025-11-20" });
    await keepRecord(test.ledger, business, recordOf(number, { document, date: "2025-11-20" }), WRITER);
  }
  for (const format of ["table", "csv", "json"]) {
    const flags = format === "table" ? [] : ["--format", format];
    const argv = ["documents", "month", "--date", "2025-11", "--business", business.businessId, ...flags];
    const { exitCode, stdout, stderr } = await callCli(argv, { env: { LEDGER_URL: test.url } });
    if (exitCode !== 0) throw new Error(stderr);
    dumps[format] = stdout;
  }
});
afterAll(async () => {
  await test?.drop();
});

describe.each(OUTPUTS)("$what", ({ made, isClean: expectClean, shows = (name) => name, words = (text) => text }) => {
  let likeIt: string;
  beforeAll(async () => {
    const [last = ""] = NAMES.at(-1) ?? [];
    likeIt = await made(PLAIN, last);
  });

  it.each(NAMES)("holds nothing that is obeyed of %s, %s", async (number, _, name) => {
    expect.hasAssertions();
    expectClean(await made(name, number), likeIt, name);
  });

  it.each(HARMLESS_NAMES)("shows the name %s as it is", async (name) => {
    const [number = ""] = NAMES.find(([, , one]) => one === name) ?? [];
    expect(words(await made(name, number))).toContain(shows(name));
  });
});

it("the list as CSV has one line for each document", () => {
  expect(Object.keys(csvRows(dumps["csv"] ?? "", "number"))).toEqual(
    expect.arrayContaining(NAMES.map(([number]) => number)),
  );
  expect(dumps["csv"]?.split("\r\n")).toHaveLength(NAMES.length + 2);
});
