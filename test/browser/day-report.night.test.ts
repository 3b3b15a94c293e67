import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

import { demoProcess } from "../demo/demo-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { findBrowser, openPage } from "./operators-browser.ts";

const SQUARE = { width: 1_100, height: 1_100 };
const PHONE = { width: 390, height: 844 };

const executablePath = await findBrowser();
const describeInBrowser = executablePath === undefined ? describe.skip : describeWithTemporal;

describeInBrowser("the demo's report of the day in a browser", () => {
  test("loads nothing else, reports no error, and is no wider than a phone", async () => {
    const demo = await demoProcess();
    expect({ exitCode: await demo.ended(), output: demo.output() }).toMatchObject({ exitCode: 0 });
    const [written = ""] = await demo.leftFiles();
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-page-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "day.html");
    await writeFile(file, await demo.read(written));
    const address = pathToFileURL(file).href;

    const { page, picture, close } = await openPage(executablePath ?? "", SQUARE);
    onTestFinished(close);
    const loaded: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => loaded.push(request.url()));
    page.on("console", (message) => errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(address);
    await page.getByRole("heading", { name: "Duka la Upendo" }).waitFor();
    expect(await page.getByText("Amounts are in KES.").count()).toBe(1);
    await picture("day-report");
    await page.setViewportSize(PHONE);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
    await picture("day-report-phone");
    expect({ loaded, errors }).toEqual({ loaded: [address], errors: [] });
  });
});
