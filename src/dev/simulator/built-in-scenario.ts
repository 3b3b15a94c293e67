import type { z } from "zod";
import type { scenarioSchema } from "./scenario-schema.ts";

/**
 * What a simulator without a scenario starts with: one application, one organisation-wide test key, one business, a
 * handful of items.
 */
export const builtInScenario: z.input<typeof scenarioSchema> = {
  applications: [{ name: "simulator", keys: [{ key: "cmp_sk_test_simulator" }] }],
  businesses: [
    {
      id: "biz_1",
      name: "Duka la Mfano",
      environment: "sandbox",
      branches: [
        { id: "branch_1", authorityBhfId: "00", name: "Nairobi" },
        { id: "branch_2", authorityBhfId: "01", name: "Mombasa" },
      ],
    },
  ],
  taxRates: { A: 0, B: 16, C: 0, D: 0, E: 8 },
  items: [
    {
      id: "item_tea",
      businessId: "biz_1",
      externalId: "ext-tea",
      sku: "TEA-500",
      name: "Tea leaves 500 g",
      taxTypeCode: "B",
      unitPrice: 350,
      onHand: { branch_1: 100, branch_2: 40 },
    },
    {
      id: "item_flour",
      businessId: "biz_1",
      externalId: "ext-flour",
      sku: "FLOUR-2",
      name: "Maize flour 2 kg",
      taxTypeCode: "A",
      taxCategory: "exempt",
      unitPrice: 210.5,
      onHand: { branch_1: 500 },
    },
    {
      id: "item_gas",
      businessId: "biz_1",
      externalId: "ext-gas",
      sku: "GAS-6",
      name: "Cooking gas 6 kg",
      taxTypeCode: "E",
      unitPrice: 1250,
      onHand: { branch_1: 20 },
    },
    {
      id: "item_delivery",
      businessId: "biz_1",
      externalId: "ext-delivery",
      sku: "DELIVERY",
      name: "Delivery",
      taxTypeCode: "B",
      productTypeCode: "3",
      unitPrice: 200,
      stockTracked: false,
    },
    {
      id: "item_new",
      businessId: "biz_1",
      externalId: "ext-new",
      sku: "SOAP-1",
      name: "Bar soap, not yet registered",
      taxTypeCode: "B",
      unitPrice: 120,
      registrationStatus: "PENDING",
      onHand: { branch_1: 60 },
    },
    {
      id: "item_incomplete",
      businessId: "biz_1",
      externalId: "ext-incomplete",
      sku: "MISC-1",
      name: "Sundries, not yet classified",
      taxTypeCode: "B",
      unitPrice: 75,
      registrationStatus: "PENDING",
      needs: { classificationMapping: true },
    },
  ],
};
