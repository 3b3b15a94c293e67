import type { Config, StatedSeller } from "../../config/index.ts";

/** `-` for the business that the key's reach names. */
interface Business {
  connection: string;
  businessId: string;
}

/** Who a business is, where somebody has said so. */
export type SellerOf = (business: Business) => StatedSeller | undefined;

/** For JSON: what is told of a business, with its seller where that is known. */
export function withSeller<Told extends Business>(told: Told, sellerOf: SellerOf): Told & { seller?: StatedSeller } {
  const seller = sellerOf(told);
  return { ...told, ...(seller && { seller }) };
}

/** As the setting `sellers` of the business's connection says. */
export function configuredSeller({ compliance }: Pick<Config, "compliance">): SellerOf {
  return ({ connection, businessId }) => {
    const configured = compliance.find(({ name }) => name === connection);
    const id = businessId === "-" ? configured?.businessId : businessId;
    return id !== undefined && configured && Object.hasOwn(configured.sellers, id) ? configured.sellers[id] : undefined;
  };
}
