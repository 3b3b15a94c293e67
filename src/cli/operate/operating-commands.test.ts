import { Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { type Attention, ATTENTION_CODES, type AttentionCode, RESOLVED_BY } from "../../contract/index.ts";
import { createProgram } from "../run-cli.ts";
import { correctCommand } from "../sale/lines.ts";
import { parseText } from "../options.ts";
import { resolvingCommands } from "./operating-commands.ts";

function attention(code: AttentionCode, subject?: string): Attention {
  return { code, message: "", sinceMs: 0, resolvedBy: RESOLVED_BY[code], ...(subject !== undefined && { subject }) };
}

describe("the commands that resolve an attention", () => {
  test("name the number, and the connection and business where they are not the default", () => {
    expect(resolvingCommands(attention("rejected"), { invoice: "INV 1'", connection: "shop", business: "b" })).toEqual([
      "fiscalflow sale retry 'INV 1'\\''' --connection shop --business b",
      "fiscalflow sale cancel 'INV 1'\\''' --reason '<why>' --connection shop --business b",
    ]);
  });

  test("name the movement, and leave both answers to the operator", () => {
    expect(resolvingCommands(attention("stock-unknown", "INV-1/item_tea/sold"), { invoice: "INV-1" })).toEqual([
      "fiscalflow sale resolve-stock INV-1 --reference INV-1/item_tea/sold --applied --note '<how you know>'",
      "fiscalflow sale resolve-stock INV-1 --reference INV-1/item_tea/sold --not-applied --note '<how you know>'",
    ]);
  });

  test("pass a number that begins with a hyphen behind `--`", () => {
    expect(resolvingCommands(attention("credentials"), { invoice: "-1" })).toEqual(["fiscalflow sale retry -- '-1'"]);
    expect(correctCommand({ invoice: "-1" })).toBe(
      "fiscalflow sale correct --reason '<code>' --number '<of the credit note>' -- '-1' '<file of the corrected sale>'",
    );
  });

  /** No sale has it. */
  const ofSales = ATTENTION_CODES.filter((code) => code !== "batch-unknown");
  test.each(ofSales)("of %s are commands that exist", (code) => {
    const commands = resolvingCommands(attention(code, "subject"), { invoice: "INV-1" });
    const stream = { write: () => true };
    const signal = AbortSignal.abort();
    const program = createProgram({ env: {}, stdin: Readable.from([]), stdout: stream, stderr: stream, signal });
    const sale = program.commands.find((command) => command.name() === "sale");
    expect(commands.length).toBeGreaterThan(0);
    for (const line of commands) {
      const [, , verb = "", ...words] = line.split(" ");
      const command = sale?.commands.find((one) => one.name() === verb);
      const known = command?.options.map(({ long }) => long) ?? [];
      expect(known).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith("--"))));
    }
  });
});

test.each(["<how you know>", "<why>", "<id of the document>"])(
  "a printed command is refused until its %s is filled in",
  (text) => {
    expect(() => parseText(text)).toThrow(`Expected your own text in place of ${text}.`);
    expect(parseText(text.slice(1, -1))).toBe(text.slice(1, -1));
  },
);
