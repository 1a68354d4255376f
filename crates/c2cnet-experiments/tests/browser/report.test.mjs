// Opens a report in headless Chromium and uses it as a reader would. See README.md beside this file.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { makeRun } from "./run_folder.mjs";

const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = places.find((path) => path && existsSync(path));
if (!executablePath) throw new Error("no Chromium: install Debian's chromium, or name one by CHROMIUM");
const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../../../target");
process.env.C2CNET = resolve(process.env.C2CNET ?? join(target, "release/c2cnet"));

const folder = mkdtempSync(join(tmpdir(), "c2cnet-report-"));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
try {
  makeRun(folder);
  execFileSync(process.env.C2CNET, ["report", folder]);
  for (const [width, height, colorScheme] of [[1280, 900, "light"], [390, 844, "dark"]]) {
    await read({ viewport: { width, height }, colorScheme });
    console.log(`ok: ${width} x ${height}, ${colorScheme}`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}

async function read(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const address = pathToFileURL(join(folder, "report.html")).href;
  const complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const own = request.url() === address || /^(data|blob):/.test(request.url());
    if (!own) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await colours(page, options.colorScheme);
  await contents(page, options.viewport.width < 900);
  await tables(page);
  await gallery(page);
  await curve(page);
  await figures(page);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), options.viewport.width, "wider than the screen");
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((e) => e.id));
  assert.equal(new Set(ids).size, ids.length, "an id twice");
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator(".contents").isHidden(), "contents on paper");
  assert.deepEqual(complaints, []);
  await context.close();
}

async function colours(page, system) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [light, dark] = ["rgb(255, 255, 255)", "rgb(17, 22, 28)"];
  assert.equal(await ground(), system === "dark" ? dark : light, "as the system");
  await page.locator(".theme").click();
  assert.equal(await ground(), system === "dark" ? light : dark, "the other");
  await page.reload();
  assert.equal(await ground(), system === "dark" ? light : dark, "the choice is kept");
  await page.locator(".theme").click();
  await page.locator(".theme").click();
  assert.equal(await ground(), system === "dark" ? dark : light, "and back");
}

async function contents(page, narrow) {
  if (narrow) {
    assert.ok(await page.locator(".contents ol").isHidden(), "folded on a phone");
    await page.locator(".contents summary").click();
  }
  await page.locator('.contents a[href="#nonaligned"]').click();
  await page.waitForFunction(() => document.querySelector('.contents a[href="#nonaligned"]').classList.contains("here"));
  for (const name of ["transfer", "efficiency"]) {
    assert.match(await page.locator(`#${name}`).innerText(), /is not shown: /);
  }
}

async function tables(page) {
  const narrowest = await page.locator("tbody td:first-child").evaluateAll((cells) => Math.min(...cells.map((cell) => cell.offsetWidth)));
  assert.ok(narrowest > 60, `a first column of ${narrowest} pixels cannot be read`);
  const table = page.locator("#headline table");
  const ratios = () => table.locator("tbody tr td:nth-child(5)").evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.v)));
  const button = table.locator("th:nth-child(5) button");
  const before = await ratios();
  const sorted = [...before].sort((a, b) => a - b);
  assert.notDeepEqual(before, sorted);
  await button.click();
  assert.deepEqual(await ratios(), sorted, "ascending");
  assert.equal(await table.locator("th:nth-child(5)").getAttribute("aria-sort"), "ascending");
  await button.focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await ratios(), sorted.reverse(), "descending, by keyboard");
  // No value comes last, whatever the order.
  const withheld = table.locator("th:nth-child(7) button");
  for (let k = 0; k < 2; k++) {
    await withheld.click();
    assert.equal(await table.locator("tbody tr:last-child td:nth-child(7)").innerText(), "–");
  }
}

async function gallery(page) {
  const gallery = page.locator("figure.gallery").first();
  await gallery.scrollIntoViewIfNeeded();
  const reading = gallery.locator(".reading");
  const loaded = () => gallery.locator("img").evaluate((image) => image.decode().then(() => [image.src, image.naturalWidth]));
  await page.waitForFunction(() => document.querySelector("figure.gallery img").src);
  assert.match(await reading.innerText(), /^1 of 9: sample 17/);
  const [first, width] = await loaded();
  assert.ok(width > 100, "a picture is shown");
  await gallery.locator("input").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await reading.innerText(), /^2 of 9: sample 22/);
  await page.waitForFunction((src) => document.querySelector("figure.gallery img").src !== src, first);
  await page.keyboard.press("End");
  assert.match(await reading.innerText(), /^9 of 9/);
  assert.ok(await gallery.locator('[data-step="1"]').isDisabled());
  await gallery.locator('[data-step="-1"]').click();
  assert.match(await reading.innerText(), /^8 of 9/);
}

async function curve(page) {
  const plot = page.locator("#cutoff-curve-0 .plot");
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.5 * box.height);
  const tip = plot.locator(".tip");
  assert.match(await tip.innerText(), /relative cut [\d.e-]+\s+training\s+[\d.e-]+\s+test\s+[\d.e-]+/);
  await page.mouse.move(1, 1);
  assert.equal(await tip.count(), 0, "gone with the pointer");
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await tip.innerText(), /relative cut 1.00e-12/);
  const lines = plot.locator(".line");
  assert.equal(await lines.count(), 3);
  const entry = page.locator("#cutoff-curve-0 .legend button").first();
  await entry.click();
  assert.equal(await lines.count(), 2, "hidden");
  await entry.click();
  assert.equal(await lines.count(), 3, "shown again");
}

async function figures(page) {
  assert.match(await page.locator("#nonaligned").innerText(), /This figure is missing: there is no figures\/lost\.svg/);
  const plate = page.locator("#nonaligned .plate").first();
  await plate.scrollIntoViewIfNeeded();
  assert.ok(await plate.locator("img").evaluate((image) => image.decode().then(() => image.naturalWidth > 100)));
  await plate.click();
  assert.ok(await page.locator("dialog.zoom").isVisible(), "enlarged");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("dialog.zoom").isHidden());
}
