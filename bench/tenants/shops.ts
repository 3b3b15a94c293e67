import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { ScenarioInput } from "../../src/dev/simulator/index.ts";
import type { BenchStack } from "../stack/start-stack.ts";

/** A tenant: a business with a connection, a key and so a request budget of its own. */
export interface Shop {
  /** Of its connection, and of its application. */
  readonly name: string;
  readonly businessId: string;
  readonly itemId: string;
  readonly firstKey: string;
}

export function shopsOf(count: number): Shop[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `shop-${index + 1}`;
    return {
      name,
      businessId: `biz_${index + 1}`,
      itemId: `item_${index + 1}`,
      firstKey: `cmp_sk_test_bench_tenants_${index + 1}`,
    };
  });
}

export function scenarioOf(shops: readonly Shop[]): ScenarioInput {
  return {
    applications: shops.map(({ name, firstKey, businessId }) => ({ name, keys: [{ key: firstKey, businessId }] })),
    businesses: shops.map(({ businessId, name }) => ({
      id: businessId,
      name: `Duka ${name}`,
      branches: [{ id: `branch_of_${businessId}`, authorityBhfId: "00" }],
    })),
    items: shops.map(({ itemId, businessId }) => ({ id: itemId, businessId, name: "tea", unitPrice: 350 })),
  };
}

/** The files of the shops' keys, as a secret store would mount them. */
export class KeyFiles {
  readonly #folder: string;
  readonly #simulator: BenchStack["simulator"];
  readonly #keys = new Map<string, string>();

  private constructor({ folder, simulator }: BenchStack) {
    this.#folder = join(folder, "keys");
    this.#simulator = simulator;
  }

  static async write(stack: BenchStack, shops: readonly Shop[]): Promise<KeyFiles> {
    const files = new KeyFiles(stack);
    await mkdir(files.#folder);
    for (const { name, firstKey } of shops) files.#set(name, firstKey);
    return files;
  }

  pathOf({ name }: Shop): string {
    return join(this.#folder, name);
  }

  keyOf({ name }: Shop): string {
    return this.#keys.get(name) ?? "";
  }

  /** As a fleet serves it. */
  connectionOf(shop: Shop) {
    const { name, businessId } = shop;
    return { name, application: name, apiKey: this.keyOf(shop), keyFile: this.pathOf(shop), businessId };
  }

  /** In one step: no call can meet a service that knows neither key. */
  rotate(shop: Shop): void {
    const before = this.keyOf(shop);
    const after = `${before}_next`;
    this.#simulator.setKey(after, { application: shop.name, businessId: shop.businessId });
    this.#set(shop.name, after);
    this.#simulator.setKey(before, null);
  }

  #set(name: string, key: string): void {
    writeFileSync(join(this.#folder, name), `${key}\n`);
    this.#keys.set(name, key);
  }
}
