import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { createPayloadCodec } from "../../src/payloads/codec.ts";
import { createCodecServer } from "../../src/worker/codec-server.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { findBrowser, openPage } from "./operators-browser.ts";

const FISCALFLOW_PAYLOAD_KEYS = `2026:${Buffer.alloc(32, 5).toString("base64")}`;
const TOKEN = "a-token-of-at-least-32-characters-";
const BUYER = "Njeri Mwangi";
const INVOICE = "READ-1";
const SILENT = { warn: () => undefined, error: () => undefined };

const executablePath = await findBrowser();
const describeInBrowser = executablePath === undefined ? describe.skip : describeWithTemporal;

describeInBrowser("Temporal's UI, of an encrypted sale", () => {
  const uiUrl = inject("temporalUiUrl") ?? "";
  let server: ReturnType<typeof createCodecServer> | undefined;
  let rig: Rig;
  let codecUrl: string;
  beforeAll(async () => {
    rig = await startRig({ env: { FISCALFLOW_PAYLOAD_KEYS } });
    const codec = createPayloadCodec([FISCALFLOW_PAYLOAD_KEYS]);
    server = createCodecServer({ codec, token: () => TOKEN, origins: [new URL(uiUrl).origin], log: SILENT });
    codecUrl = await server.listen({ host: "127.0.0.1", port: 0 });
    rig.simulator.setAuthority(INVOICE, [{ do: "reject", reason: "no" }]);
    await salesOf(() => rig).start(INVOICE, { customer: { name: BUYER } });
    await rig.stateWhen(INVOICE, ({ attentions }) => attentions.length > 0);
  });
  afterAll(async () => {
    await server?.close();
    await rig?.close();
  });

  /** The page of the sale, once the UI has asked the codec server, and what that answered. */
  async function openSale(page: Page): Promise<number> {
    // What an operator sets in the UI's dialog.
    await page.addInitScript(`localStorage.setItem("endpoint", ${JSON.stringify(JSON.stringify(codecUrl))});
      localStorage.setItem("includeCredentials", "true");
      localStorage.setItem("overrideRemoteCodecConfiguration", "true");`);
    const decoded = page.waitForResponse(
      (response) => new URL(response.url()).pathname === "/decode" && response.request().method() === "POST",
    );
    await page.goto(
      `${uiUrl}/namespaces/${rig.namespace}/workflows/${encodeURIComponent(rig.starter.workflowId({ invoice: INVOICE }))}`,
    );
    return (await decoded).status();
  }

  test("shows cipher text to a person without the token", async () => {
    const { page, close } = await openPage(executablePath ?? "");
    try {
      expect(await openSale(page)).toBe(401);
      await page.getByText("encryption-key-id").first().waitFor();
      expect(await page.locator("body").innerText()).not.toContain(BUYER);
    } finally {
      await close();
    }
  });

  test("shows the input and the details to a person who has entered the token once", async () => {
    const credentials = { username: "wanjiku", password: TOKEN, origin: codecUrl };
    const { page, picture, close } = await openPage(executablePath ?? "", undefined, credentials);
    try {
      await page.goto(codecUrl);
      await page.getByText("may decode payloads now").waitFor();
      expect(await openSale(page)).toBe(200);
      await page.getByText(BUYER).first().waitFor();
      await picture("decoded");
      await page.getByRole("tab", { name: "User Metadata" }).click();
      const details = page.locator('iframe[src*="render"]').last().contentFrame();
      await details.getByText("rejected").first().waitFor();
    } finally {
      await close();
    }
  });
});
