// Opens pages in a headless Chromium as people would, and fails where one of them
//
//   - writes an error or a warning to the console,
//   - asks for anything but itself,
//   - has an issue that axe-core calls moderate, serious or critical, light, dark, or with every <details> open,
//   - is wider than the window (what is wide must scroll inside the page),
//   - has a column whose heading does not sort by mouse, Enter and Space, or does not say so in aria-sort,
//   - has a figure that cannot be read by pointing at it, or by the arrow keys on its slider.
//
// It leaves screenshots at phone and desktop width, light and dark, and the printed page, for a person to look at.
//
// In a folder with npm install --no-save playwright-core axe-core:
//
//   node .../internal/webpage/check.mjs OUT PAGE.html...         with CHROMIUM=/usr/bin/chromium, or where else it is
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [out, ...pages] = process.argv.slice(2);
if (pages.length === 0) {
  console.error("usage: node check.mjs OUT PAGE.html...");
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const require = createRequire(join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const widths = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const problems = [];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const path of pages) {
  const url = pathToFileURL(resolve(path)).href;
  const name = basename(path, ".html");
  for (const [device, viewport] of Object.entries(widths)) {
    for (const colorScheme of ["light", "dark"]) {
      const where = `${name}, ${device}, ${colorScheme}`;
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(`${where}: console: ${m.text()}`));
      page.on("pageerror", (e) => problems.push(`${where}: ${e.message}`));
      page.on("request", (r) => !r.url().startsWith(url) && !r.url().startsWith("data:") && problems.push(`${where}: asks for ${r.url()}`));
      await page.goto(url);
      await page.screenshot({ path: join(out, `${name}-${device}-${colorScheme}.png`), fullPage: true });
      await page.addScriptTag({ path: axe });
      await audit(page, where);
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
      await audit(page, where + ", details open");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) problems.push(`${where}: the page is ${wide} pixels wider than the window`);
      if (device === "desktop" && colorScheme === "light") {
        await sorting(page, where);
        await reading(page, where);
        await page.reload();
        await page.pdf({ path: join(out, `${name}.pdf`), format: "A4" });
      }
      await context.close();
    }
  }
}
await browser.close();
for (const p of problems) console.error(p);
console.log(problems.length === 0 ? `${pages.length} page(s): no problem found` : `${problems.length} problem(s)`);
process.exit(problems.length === 0 ? 0 : 1);

async function audit(page, where) {
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  if (passes.length === 0) problems.push(`${where}: axe-core ran no rule`);
  for (const v of violations) {
    const at = v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join("; ");
    const line = `${where}: axe-core, ${v.impact}: ${v.id}: ${v.help} (${v.nodes.length} times, ${at})`;
    if (v.impact === "minor") console.error(line);
    else problems.push(line);
  }
}

// sorting tries every heading with a button, and that the rows come in its order.
async function sorting(page, where) {
  const tables = page.locator("table:has(thead th button)");
  for (let t = 0; t < (await tables.count()); t++) {
    const table = tables.nth(t);
    const buttons = table.locator("thead th button");
    for (let k = 0; k < (await buttons.count()); k++) {
      const button = buttons.nth(k);
      const heading = button.locator("xpath=ancestor::th[1]");
      await button.scrollIntoViewIfNeeded();
      await button.click();
      const first = await heading.getAttribute("aria-sort");
      await button.focus();
      await page.keyboard.press("Enter");
      const second = await heading.getAttribute("aria-sort");
      await page.keyboard.press("Space");
      const third = await heading.getAttribute("aria-sort");
      const others = await table.locator("thead th[aria-sort]").count();
      if (!first || !second || first === second || third !== first || others !== 1)
        problems.push(`${where}: table ${t + 1}, heading ${k + 1}: aria-sort is ${first}, then ${second}, then ${third}, on ${others} heading(s)`);
      const keys = await heading.evaluate((th) =>
        [...th.closest("table").querySelectorAll("tbody:not([data-fixed]) tr")].map((r) => r.cells[th.cellIndex].dataset.sort ?? r.cells[th.cellIndex].textContent.trim()));
      const numbers = keys.filter((v) => v !== "").map(Number);
      const up = third === "ascending" ? 1 : -1;
      if (!numbers.some(Number.isNaN) && numbers.some((v, i) => i > 0 && (v - numbers[i - 1]) * up < 0))
        problems.push(`${where}: table ${t + 1}, heading ${k + 1} is ${third}, but the rows are not: ${keys.join(" ")}`);
    }
  }
}

// reading points at two places of every figure and presses Home and End on its slider: the reading and the guide must follow.
async function reading(page, where) {
  const figures = page.locator("figure:has(.reading)");
  if ((await page.locator("figure").count()) !== (await figures.count())) problems.push(`${where}: a figure has no reading`);
  for (let f = 0; f < (await figures.count()); f++) {
    const figure = figures.nth(f);
    const slider = figure.locator("input[type=range]");
    const rows = 1 + Number(await slider.getAttribute("max"));
    if (rows < 2) continue;
    const svg = figure.locator("svg");
    await svg.scrollIntoViewIfNeeded();
    const box = await svg.boundingBox();
    const guide = () => figure.locator(".guide").getAttribute("x1");
    const read = () => figure.locator(".reading").innerText();
    const seen = [];
    const note = async () => seen.push([await read(), await guide(), await slider.getAttribute("aria-valuetext")]);
    await page.mouse.move(box.x + 0.2 * box.width, box.y + box.height / 2);
    await note();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + box.height / 2);
    await note();
    await slider.focus();
    await page.keyboard.press("Home");
    await note();
    await page.keyboard.press("End");
    await note();
    for (let k = 0; k < 3; k++) {
      if (new Set(seen.map((s) => s[k])).size < Math.min(3, rows)) problems.push(`${where}: figure ${f + 1} is not read: ${seen.map((s) => s[k]).join(" | ")}`);
    }
  }
}
