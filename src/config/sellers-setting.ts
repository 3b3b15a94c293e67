import { z } from "zod";
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

const EXPECTED =
  'an object of businesses and who they are, such as {"biz_1": {"name": "Duka Moja Ltd", "pin": "P051234567Z", "address": "Moi Avenue 12"}}, of which pin and address may be left out;';
const text = z.string().trim().min(1).max(300);
const sellers = z.record(
  z.string().min(1),
  z.strictObject({ name: text, pin: text.optional(), address: text.optional() }),
);

/** By business; a variable carries it as JSON. */
export function sellersSetting(about: About<StatedSellers>): Setting<StatedSellers> {
  return businessRecordSetting(about, sellers, EXPECTED);
}
