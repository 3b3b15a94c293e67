import { mkdir } from "node:fs/promises";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";

import { findOnPath } from "../rig/find-on-path.ts";
import { PATIENCE_MS } from "../rig/patience.ts";

/** Wide enough that Temporal's UI shows everything side by side, as on a laptop. */
const VIEWPORT = { width: 1280, height: 900 };
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/**
 * Where a run leaves its pictures. `PICTURES=docs/images npx vitest run --project slow test/browser` renews those of
 * the documents.
 */
const PICTURES = process.env["PICTURES"] ?? "test-results/pictures";

/** Undefined where there is none; with CI set, where a skipped suite would pass for a green one, that is an error. */
export async function findBrowser(): Promise<string | undefined> {
  for (const name of NAMES) {
    const path = findOnPath(name);
    if (path !== undefined) return path;
  }
  if (process.env["CI"]) throw new Error(`None of ${NAMES.join(", ")} is on PATH.`);
  return undefined;
}

/** One update that the details name, with the JSON to send. */
export interface ShownUpdate {
  name: string;
  json: string;
}

/** What an operator does in Temporal's UI, and sees there. */
export interface OperatorsBrowser {
  /** The details of a workflow that needs an operator for this. @returns every update that can be read whole */
  open(workflowId: string, code: string): Promise<ShownUpdate[]>;
  /** Sends an update through the UI's dialog, to the workflow that is open. */
  send(update: ShownUpdate): Promise<void>;
  /** Opens a page of the UI, and waits until it shows the text. */
  show(path: string, text: string): Promise<void>;
  picture(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface OpenPage {
  page: Page;
  /** Kept as `<name>.png` among the run's pictures. */
  picture: (name: string) => Promise<void>;
  close: () => Promise<void>;
}

/**
 * An empty page in a browser of its own, as wide as a laptop's unless told.
 * @param credentials what its user enters where a server asks for a name and a password
 */
export async function openPage(
  executablePath: string,
  viewport = VIEWPORT,
  credentials?: NonNullable<BrowserContextOptions["httpCredentials"]>,
): Promise<OpenPage> {
  // The sandbox of Chromium does not work for root, as whom a container runs; every page here is our own.
  const browser: Browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({
    viewport,
    timezoneId: "Africa/Nairobi",
    ...(credentials && { httpCredentials: credentials }),
  });
  page.setDefaultTimeout(PATIENCE_MS);
  await mkdir(PICTURES, { recursive: true });
  return {
    page,
    picture: async (name) => void (await page.screenshot({ path: `${PICTURES}/${name}.png` })),
    close: () => browser.close(),
  };
}

export async function openBrowser(uiUrl: string, namespace: string, executablePath: string): Promise<OperatorsBrowser> {
  const { page, picture, close } = await openPage(executablePath);
  const inNamespace = `${uiUrl}/namespaces/${namespace}`;

  return {
    async open(workflowId, code) {
      await page.goto(`${inNamespace}/workflows/${encodeURIComponent(workflowId)}`);
      await page.getByRole("tab", { name: "User Metadata" }).click();
      return await readableUpdates(page, code);
    },
    async send({ name, json }) {
      await page.getByRole("button", { name: "More Actions" }).click();
      await page.getByRole("menuitem", { name: "Send an Update" }).click();
      const dialog = page.locator("dialog[open]").filter({ hasText: "Send an Update" });
      await dialog.getByTestId("update-select-button").click();
      await dialog.getByRole("option", { name: new RegExp(`^${name}\\b`) }).click();
      await dialog.locator(".cm-content").first().fill(json);
      // The dialog lays the JSON out anew when it is left, which would move the button away from under the click.
      await page.keyboard.press("Tab");
      await picture(`send-${name}`);
      await dialog.getByRole("button", { name: "Submit" }).click();
      await page.getByText("Update successful").waitFor();
    },
    async show(path, text) {
      await page.goto(`${inNamespace}/${path}`);
      await page.getByText(text).first().waitFor();
    },
    picture,
    close,
  };
}

/**
 * Reads the frame in which the UI shows the current details: of each JSON that can be seen down to its last pixel, the
 * update that is named last before it.
 */
async function readableUpdates(page: Page, code: string): Promise<ShownUpdate[]> {
  const frame = page.locator('iframe[src*="render"]').last();
  const content = frame.contentFrame();
  await content.getByText(code).first().waitFor();
  // The text is there before the frame is laid out, and what has no box yet counts as cut.
  await content.locator("pre code").first().waitFor();
  const lastPixel = await lastPixelSeen(frame);
  const found: ShownUpdate[] = [];
  let name = "";
  for (const one of await content.locator("code").all()) {
    const text = (await one.textContent())?.trim() ?? "";
    const isBlock = (await one.locator("xpath=ancestor::pre").count()) > 0;
    const box = await one.boundingBox();
    if (!isBlock) name = text;
    else if (box && box.y + box.height <= lastPixel) found.push({ name, json: text });
  }
  return found;
}

/**
 * Where the frame ends on the page: it may be cut by what is around it. In pixels from the page's top, as boxes are.
 */
async function lastPixelSeen(frame: Locator): Promise<number> {
  const boxes = [await frame.boundingBox()];
  for (const around of await frame.locator("xpath=ancestor::*").all()) {
    const isCutting = await around.evaluate(`(element) => getComputedStyle(element).overflowY !== "visible"`);
    if (isCutting === true) boxes.push(await around.boundingBox());
  }
  return Math.min(...boxes.map((box) => (box ? box.y + box.height : 0)));
}
