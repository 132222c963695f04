// Checks the types of the page's own scripts by the strict rules of TypeScript: `npm ci && npm run
// types` in this folder. The comments of the scripts state the types (JSDoc).
//
// `untyped.txt` lists the files that do not keep these rules yet. The check fails on a fault in any
// other file. It also fails on a listed file without a fault, so that the list only becomes
// shorter. It fails on an unknown name in any file, because the script would stop there.
// `npm run types -- --all` shows the faults of the listed files, too.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = "../../server/web/";

const untyped = readFileSync(here("untyped.txt"), "utf8").split("\n").filter(Boolean);
const compiler = here("node_modules/typescript/bin/tsc");
const { stdout, error } = spawnSync(process.execPath, [compiler, "--pretty", "false", "-p", here("tsconfig.json")], { cwd: here("."), encoding: "utf8", maxBuffer: 1 << 26 });
if (error) throw error;

// A fault is a line that names its file, and indented lines after it.
const faults = stdout.split(/\n(?=\S)/).filter(Boolean);
/** @type {Map<string, string[]>} */
const byFile = new Map();
for (const fault of faults) {
  const file = /^(.*?)\(\d+,\d+\): /.exec(fault)?.[1].replace(PAGE, "") ?? "the compiler";
  byFile.set(file, [...(byFile.get(file) ?? []), fault.trimEnd()]);
}

const isListed = (/** @type {string} */ file) => untyped.includes(file);
const isUnknownName = (/** @type {string} */ fault) => /: error TS(2304|2503|2552|18004): /.test(fault);
const wrong = [...byFile].flatMap(([file, all]) => (isListed(file) ? all.filter(isUnknownName) : all));
const clean = untyped.filter((file) => !byFile.has(file));
if (process.argv.includes("--all")) console.log(faults.join("\n"));
else if (wrong.length > 0) console.log(wrong.join("\n"));
if (clean.length > 0) console.log(`these files have no fault any more: take them out of tests/web/untyped.txt:\n${clean.join("\n")}`);
const left = [...byFile].filter(([file]) => isListed(file)).reduce((sum, [, all]) => sum + all.length, 0);
console.log(`${wrong.length} faults of types; ${untyped.length} files with ${left} faults are listed in tests/web/untyped.txt`);
process.exitCode = wrong.length > 0 || clean.length > 0 ? 1 : 0;
