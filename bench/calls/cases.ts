import { type Case, COLD, CROWD, lineOf } from "./case.ts";

const CREATE_AND_ADJUST = "create the document, adjust the stock: each exists at the service only by a call";
const NOT_BELIEVED = "one read, since a callback is a hint and its body is not believed";

/** Every way of a sale whose calls can be counted, with the least that it can cost. */
export function cases(crowd: number): Case[] {
  return [...accepted(crowd), ...waiting(), ...refunds()];
}

function accepted(crowd: number): Case[] {
  return [
    {
      name: "accepted at once, catalogue cold",
      run: ({ sell }) => sell("COLD-1", { businessId: COLD, lines: [lineOf("tea", 1, COLD)] }),
      least: 3,
      why: `${CREATE_AND_ADJUST}; and one reading of the catalogue, which alone says whether the item is registered and tracked`,
    },
    {
      name: "accepted at once, catalogue warm",
      run: ({ sell }) => sell("WARM-1"),
      least: 2,
      why: CREATE_AND_ADJUST,
    },
    {
      name: "two tracked items",
      run: ({ sell }) => sell("TWO-ITEMS-1", { lines: [lineOf("tea"), lineOf("flour")] }),
      least: 3,
      why: "the service adjusts one item a call",
    },
    {
      name: "two lines of one item",
      run: ({ sell }) => sell("TWO-LINES-1", { lines: [lineOf("tea"), lineOf("tea", 2)] }),
      least: 2,
      why: "lines of one item are one movement",
    },
    {
      name: "an item without stock",
      run: ({ sell }) => sell("SERVICE-1", { lines: [lineOf("delivery")] }),
      least: 1,
      why: "create the document",
    },
    {
      name: "stock kept elsewhere (stock: off)",
      run: ({ sell }) => sell("NO-STOCK-1", { stock: "off" }),
      least: 1,
      why: "create the document",
    },
    {
      name: "an unregistered item",
      run: ({ sell }) => sell("UNREGISTERED-1", { lines: [lineOf("soap")] }),
      least: 3,
      why: "register the item, create, adjust; the answer to the registration corrects the catalogue",
    },
    {
      name: "an item that an earlier sale has registered",
      run: ({ sell }) => sell("REGISTERED-1", { lines: [lineOf("soap")] }),
      least: 2,
      why: "what the registration answered is known",
    },
    {
      name: "the same sale started twice",
      run: async ({ sell }) => void (await Promise.all([sell("TWICE-1"), sell("TWICE-1")])),
      least: 2,
      why: "it is one sale",
    },
    {
      name: `${crowd} sales started together, catalogue cold`,
      run: ({ sellTogether }) => {
        const invoices = Array.from({ length: crowd }, (_, index) => `CROWD-${index}`);
        return sellTogether(invoices, { businessId: CROWD, lines: [lineOf("tea", 1, CROWD)] });
      },
      least: 2 * crowd + 1,
      why: "two each, and the process reads the catalogue once for all who ask",
    },
    {
      name: "issued elsewhere, adopted",
      run: ({ simulator, sell }) => {
        const { businessId, ...line } = { businessId: "biz_warm", itemId: "biz_warm_tea", quantity: 1 };
        const { id } = simulator.issueSale({ businessId, traderInvoiceNumber: "ELSEWHERE-1", lines: [line] });
        return sell("ELSEWHERE-1", { saleId: id });
      },
      least: 1,
      why: "read the document; its stock is the business of its issuer",
    },
  ];
}

function waiting(): Case[] {
  const IN_FLIGHT_MS = 300;
  return [
    {
      name: "in flight, callback",
      before: ({ simulator }) => simulator.setAuthority("CALLBACK-1", [{ do: "accept", afterMs: IN_FLIGHT_MS }]),
      run: ({ sell }) => sell("CALLBACK-1"),
      least: 3,
      why: `create, adjust, and ${NOT_BELIEVED}`,
    },
    {
      name: "in flight, no callback, polled",
      before: ({ simulator }) => simulator.setAuthority("POLLED-1", [{ do: "accept", afterMs: IN_FLIGHT_MS }]),
      run: ({ sell }) => sell("POLLED-1", { callback: "off" }),
      least: 3,
      why: "create, adjust, and one read after the decision",
    },
    {
      name: "in flight, callback lost, polled",
      before: ({ simulator }) => {
        simulator.setAuthority("LOST-1", [{ do: "accept", afterMs: IN_FLIGHT_MS }]);
        simulator.pauseCallbacks();
      },
      run: async ({ simulator, sell }) => {
        await sell("LOST-1");
        simulator.resumeCallbacks();
      },
      least: 3,
      why: "create, adjust, and one read after the decision: none while a callback can still be expected soon",
    },
    {
      name: "rejected, then accepted",
      before: ({ simulator }) =>
        simulator.setAuthority("REJECTED-1", [{ do: "reject", reason: "not now" }, { do: "accept" }]),
      run: ({ sell }) => sell("REJECTED-1"),
      least: 3,
      why: "create, submit the same document again, adjust",
      extra: { calls: 1, why: "a look at the items: an unregistered one is the commonest reason of a rejection" },
    },
    {
      name: "in flight, then cancelled by the service",
      before: ({ simulator }) => simulator.setAuthority("CANCELLED-1", [{ do: "cancel", afterMs: IN_FLIGHT_MS }]),
      run: ({ sell }) => sell("CANCELLED-1"),
      least: 4,
      why: `create, adjust, ${NOT_BELIEVED}, give the stock back`,
      extra: {
        calls: 1,
        why: "a reading of the branches, once a process: the goods return to the branch that the answer named",
      },
    },
  ];
}

function refunds(): Case[] {
  return [
    {
      name: "a refund in its window",
      before: ({ sellOpen }) => sellOpen("REFUND-1"),
      run: async ({ starter, client }) => {
        await starter.refund({ invoice: "REFUND-1" }, { reason: "06", traderInvoiceNumber: "CN-REFUND-1" });
        await client.workflow.getHandle(starter.workflowId({ invoice: "REFUND-1" })).result();
      },
      least: 1,
      why: "create the credit note",
    },
    {
      name: "a refund with restock",
      before: ({ sellOpen }) => sellOpen("RESTOCK-1"),
      run: async ({ starter, client }) => {
        await starter.refund(
          { invoice: "RESTOCK-1" },
          { reason: "03", traderInvoiceNumber: "CN-RESTOCK-1", restock: true },
        );
        await client.workflow.getHandle(starter.workflowId({ invoice: "RESTOCK-1" })).result();
      },
      least: 2,
      why: "create the credit note, adjust the stock of its one item",
    },
    {
      name: "a refund in flight, callback",
      before: async ({ simulator, sellOpen }) => {
        await sellOpen("SLOW-REFUND-1");
        simulator.setAuthority("CN-SLOW-REFUND-1", [{ do: "accept", afterMs: 300 }]);
      },
      run: async ({ starter, client }) => {
        await starter.refund({ invoice: "SLOW-REFUND-1" }, { reason: "06", traderInvoiceNumber: "CN-SLOW-REFUND-1" });
        await client.workflow.getHandle(starter.workflowId({ invoice: "SLOW-REFUND-1" })).result();
      },
      least: 2,
      why: `create the credit note, and ${NOT_BELIEVED}`,
    },
  ];
}
