import { notFound } from "./api-error.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import { itemPatchSchema, itemSchema, type ItemPatch, type ScenarioItem } from "./scenario-schema.ts";

/** An item and how often its registration was asked for. */
export type ItemRecord = Omit<ScenarioItem, "onHand"> & { registrationAttempts: number };

/** The Item of the document, without what only the simulator keeps. */
export function itemBody(item: ItemRecord): Record<string, unknown> {
  return {
    id: item.id,
    externalId: item.externalId ?? item.id,
    name: item.name,
    sku: item.sku ?? item.id,
    taxCategory: item.taxCategory,
    taxTypeCode: item.taxTypeCode,
    productTypeCode: item.productTypeCode,
    classificationCode: item.classificationCode,
    unitCode: item.unitCode,
    packagingUnitCode: item.packagingUnitCode,
    unitPrice: item.unitPrice,
    stockTracked: item.stockTracked,
    registrationStatus: item.registrationStatus,
    needs: { ...item.needs },
  };
}

/** Every item of every business. */
export class Catalogue {
  readonly #items = new Map<string, ItemRecord>();
  readonly #taxRates: Readonly<Record<string, number>>;

  constructor(taxRates: Readonly<Record<string, number>>) {
    this.#taxRates = taxRates;
  }

  /** Returns the parsed item, whose `onHand` belongs to the stock. */
  add(raw: unknown): ScenarioItem {
    const item = parseInstruction("item", itemSchema, raw);
    if (this.#items.has(item.id)) throw new InstructionError("item", [`item.id: "${item.id}" exists`]);
    this.#requireRate(item.taxTypeCode);
    const { onHand: _onHand, ...rest } = item;
    this.#items.set(item.id, { ...rest, registrationAttempts: 0 });
    return item;
  }

  /** Returns the parsed patch; only the fields that it names change. */
  update(id: string, raw: unknown): ItemPatch {
    const known = this.#items.get(id);
    if (known === undefined) throw new InstructionError("item", [`there is no item "${id}"`]);
    const parsed: Record<string, unknown> = { ...parseInstruction("item", itemPatchSchema, raw) };
    // A partial schema still fills in its defaults: what the patch does not name must stay.
    const named = Object.keys(typeof raw === "object" && raw !== null ? raw : {});
    const patch: ItemPatch = Object.fromEntries(named.map((key) => [key, parsed[key]]));
    if (patch.taxTypeCode !== undefined) this.#requireRate(patch.taxTypeCode);
    const { onHand: _onHand, ...rest } = patch;
    Object.assign(known, rest);
    return patch;
  }

  get(id: string): ItemRecord | undefined {
    return this.#items.get(id);
  }

  /** The item of this business, or 404: another business's item is indistinguishable from none. */
  require(businessId: string, id: string): ItemRecord {
    const item = this.#items.get(id);
    if (item === undefined || item.deleted || item.businessId !== businessId) throw notFound(`Item ${id}`);
    return item;
  }

  of(businessId: string): ItemRecord[] {
    return [...this.#items.values()].filter((item) => item.businessId === businessId && !item.deleted);
  }

  taxRate(item: ItemRecord): number {
    return this.#taxRates[item.taxTypeCode] ?? 0;
  }

  #requireRate(taxTypeCode: string): void {
    if (!Object.hasOwn(this.#taxRates, taxTypeCode))
      throw new InstructionError("item", [`item.taxTypeCode: there is no tax rate for "${taxTypeCode}"`]);
  }
}
