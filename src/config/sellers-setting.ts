import { z } from "zod";

import { PIN } from "../contract/index.ts";
import { businessRecordSetting } from "./business-record-setting.ts";
import type { About } from "./plain-settings.ts";
import type { Setting } from "./setting.ts";

/** Who sells, as the shop states it: the API's documents do not name the seller. */
export interface StatedSeller {
  name: string;
  pin?: string | undefined;
  /** Address, telephone and the like; each line break begins a new line. */
  address?: string | undefined;
}

export type StatedSellers = Readonly<Record<string, StatedSeller>>;

const SELLER = '{"name": "Duka Moja Ltd", "pin": "P051234567Z", "address": "Moi Avenue 12"}';
const EXPECTED = `an object of businesses and who they are, such as {"biz_1": ${SELLER}},`;
const A_PIN = "a PIN of the tax authority (A or P, nine digits, a capital letter, such as P051234567Z)";
const seller = z.strictObject(
  {
    name: text("a name of 1 to 300 characters"),
    pin: z
      .string({ error: `expected ${A_PIN}` })
      .trim()
      .regex(PIN, { error: `expected ${A_PIN}` })
      .optional(),
    address: text("an address of 1 to 300 characters").optional(),
  },
  { error: `expected who the business is, such as ${SELLER}` },
);
const sellers = z.record(z.string().min(1), seller);

function text(what: string) {
  const error = `expected ${what}`;
  return z.string({ error }).trim().min(1, { error }).max(300, { error });
}

/** By business; a variable carries it as JSON. */
export function sellersSetting(about: About<StatedSellers>): Setting<StatedSellers> {
  return businessRecordSetting(about, sellers, EXPECTED, Object.keys(seller.shape));
}
