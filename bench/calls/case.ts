import type { Client } from "@temporalio/client";

import type { SaleInput, SaleLineInput } from "../../src/contract/index.ts";
import type { Simulator } from "../../src/dev/simulator/index.ts";
import type { Starter } from "../../src/starter/index.ts";

export interface Till {
  readonly simulator: Simulator;
  readonly client: Client;
  readonly starter: Starter;
  /** A sale in a shop whose catalogue is warm, until its workflow has ended. */
  readonly sell: (invoice: string, more?: Partial<SaleInput>) => Promise<void>;
  /** As many such sales as there are invoices, started at the same moment, until all have ended. */
  readonly sellTogether: (invoices: readonly string[], more: Partial<SaleInput>) => Promise<void>;
  /** A single one, but it stays open for a refund; resolves once it is completed and its stock has moved. */
  readonly sellOpen: (invoice: string) => Promise<void>;
}

export interface Case {
  readonly name: string;
  /** Done before the count begins. */
  readonly before?: (till: Till) => Promise<void> | void;
  readonly run: (till: Till) => Promise<void>;
  /** The least possible number of calls, and why none of them can be left out. */
  readonly least: number;
  readonly why: string;
  /** What the product allows itself beyond that, and what for. */
  readonly extra?: { readonly calls: number; readonly why: string };
}

/** Its catalogue is read before the first case; a case of a cold one has a business of its own. */
export const WARM = "biz_warm";
export const COLD = "biz_cold";
export const CROWD = "biz_crowd";
export const BUSINESSES: readonly string[] = [WARM, COLD, CROWD];

export type Goods = "tea" | "flour" | "delivery" | "soap";

export function lineOf(goods: Goods, quantity = 1, businessId: string = WARM): SaleLineInput {
  return { itemId: `${businessId}_${goods}`, quantity, unitPrice: 350 };
}
