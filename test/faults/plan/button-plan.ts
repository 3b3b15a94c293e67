import { Chance } from "./chance.ts";

/** What Temporal's UI and command line let an operator do to a run, or to several at once. */
export const BUTTONS = [
  "activity pause",
  "activity reset",
  "activity update-options",
  "activity fail",
  "activity complete",
  "workflow reset",
  "workflow terminate",
  "workflow cancel",
  "workflow signal",
  "workflow update",
  "batch signal",
  "batch reset",
  "batch terminate",
  "batch cancel",
  // fiscalflow's own: the update `cancel` of a sale that is being credited.
  "credit note cancel",
] as const;
export type Button = (typeof BUTTONS)[number];

/** An update of any content may be a cancellation. */
export const CANCELS: readonly Button[] = ["workflow cancel", "batch cancel", "workflow update"];

/** A cancellation of any kind that comes while the sale is credited gives up its credit note. */
export function givesUpCreditNote(pressed: ReadonlySet<Button> | undefined): boolean {
  return pressed?.has("credit note cancel") === true || CANCELS.some((button) => pressed?.has(button));
}

/** So many presses, of each button as often as of any other. */
export function planButtons(seed: number, presses: number): Button[] {
  const inTurn = Array.from({ length: presses }, (_, index) => BUTTONS[index % BUTTONS.length] ?? BUTTONS[0]);
  return new Chance(seed, "buttons").shuffled(inTurn);
}

/** Results that no activity of the product gives. */
export const ODD_RESULTS: readonly unknown[] = [null, {}, "done", { kind: "done" }, [], 0, { kind: "applied" }];

interface OddPayload {
  readonly metadata: Record<string, Uint8Array>;
  readonly data: Uint8Array;
}

/** Contents that Temporal's UI, its command line or another program can send, and nobody can read or use. */
export const ODD_PAYLOADS: readonly (readonly OddPayload[])[] = [
  [payload("json/protobuf", "{}", { messageType: "a.b.C" })],
  [payload("binary/encrypted", "cipher")],
  [payload("json/plain", "not json")],
  [{ metadata: {}, data: Buffer.from("{}") }],
  [payload("binary/null", "")],
  [payload("json/plain", "[1,2,3]")],
  [payload("json/plain", '"text"')],
  [payload("json/plain", '{"event":5,"reason":"99","traderInvoiceNumber":7}')],
  [payload("json/plain", "{}"), payload("json/plain", "{}")],
  [],
];

function payload(encoding: string, data: string, more: Record<string, string> = {}): OddPayload {
  const metadata = Object.entries({ encoding, ...more }).map(([key, value]) => [key, Buffer.from(value)] as const);
  return { metadata: Object.fromEntries(metadata), data: Buffer.from(data) };
}
