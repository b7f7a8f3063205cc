/**
 * Bundles TypeScript and packages into one CommonJS file for the program, one for each worker thread and one
 * that unpacks the program. The files need nothing but Node.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { bundling, entry, executableEntry } from '../build.config.ts'
import { THREAD_SOURCES } from '../src/threads/start.ts'

/** Inside the executable `require` finds Node's modules only, but the SQLite addon is a file. */
const BANNER = "require=require('node:module').createRequire(process.execPath);"

/** Writes `main.cjs`, `<thread>.cjs` and `entry.cjs` into `folder`; fails on any warning. */
export async function bundle(folder: string): Promise<void> {
  const { outputs } = await bundleFrom({
    entryPoints: { main: entry, ...THREAD_SOURCES, entry: executableEntry },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.dirname': '""' },
    banner: { js: BANNER },
  })
  refuseMissing(outputs)
}

/** Bundles with the settings of the build and these; fails on any warning. */
export async function bundleFrom(options: BuildOptions): Promise<Metafile> {
  const result = await build({
    ...bundling,
    ...options,
    plugins: bundledPackages,
    metafile: true,
    logLevel: 'warning',
  })
  if (result.warnings.length > 0) throw new Error('the bundler warned, see above')
  await Promise.all(Object.keys(result.metafile.outputs).map(escapeFile))
  return result.metafile
}

/**
 * The bundler escapes characters beyond ASCII in strings, but not in regular expressions and tagged
 * templates. A single such character makes V8 hold the whole text with two bytes for each character.
 * `RegExp.source` and `String.raw` would show the escapes; nothing reads them so.
 */
async function escapeFile(file: string): Promise<void> {
  await writeFile(file, escapeNonAscii(await readFile(file, 'utf8')))
}

/** Characters beyond ASCII as escapes of four digits, which mean the same in a regular expression. */
export function escapeNonAscii(code: string): string {
  if (/\\[^\0-\x7f]/.test(code)) throw new Error('a backslash precedes a character beyond ASCII')
  return code.replace(/[^\0-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

const bundledDrizzle: Plugin = {
  name: 'bundled-drizzle',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\]store[/\\]drizzle\.ts$/ }, async ({ path: file }) => ({
      contents: reexport(await readFile(file, 'utf8')),
      resolveDir: path.dirname(file),
      loader: 'ts',
    }))
  },
}

/** `debug`, which `file-type` brings along, tries to load this package and does without it. */
const withoutColors: Plugin = {
  name: 'without-colors',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^supports-color$/ }, ({ path: name }) => ({
      path: name,
      namespace: 'absent',
    }))
    onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'module.exports = null' }))
  },
}

/** `const m = require('p')` with `export const { a, b } = m` becomes `export { a, b } from 'p'`. */
export function reexport(source: string): string {
  const modules = new Map<string | undefined, string | undefined>()
  for (const [, name, from] of source.matchAll(/^const (\w+) = require\('([^']+)'\)/gm)) {
    modules.set(name, from)
  }
  const lines: string[] = []
  for (const [, names, name] of source.matchAll(/^export const \{([^}]*)\} =\s*(\w+)$/gm)) {
    const from = modules.get(name)
    if (from === undefined) throw new Error(`drizzle.ts: ${name} is no required package`)
    lines.push(`export {${names?.replaceAll(':', ' as')}} from '${from}'`)
  }
  const expected = source.match(/^export (?!type )/gm)?.length ?? 0
  if (lines.length !== expected) throw new Error('drizzle.ts: an export that is not understood')
  return lines.join('\n')
}

/**
 * `footers.ts` uses one part of each file of texts. The bundler leaves out the other parts only if this one is imported
 * by its name, which Node does not allow.
 */
const footersAlone: Plugin = {
  name: 'footers-alone',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\]texts[/\\]footers\.ts$/ }, async ({ path: file }) => ({
      contents: importFooters(await readFile(file, 'utf8')),
      resolveDir: path.dirname(file),
      loader: 'ts',
    }))
  },
}

/** `import en from './en.json' with …` with `en.footer` becomes `import { footer as en } from './en.json'` with `en`. */
function importFooters(source: string): string {
  const statement = /^import (\w+) from '(\.\/[\w-]+\.json)' with \{ type: 'json' \}$/gm
  return source
    .replace(statement, "import { footer as $1 } from '$2'")
    .replaceAll(/: (\w+)\.footer,$/gm, ': $1,')
}

/** What the bundler must know of files that it would not bundle well by itself. */
export const bundledPackages: Plugin[] = [bundledDrizzle, withoutColors, footersAlone]

function refuseMissing(outputs: Metafile['outputs']): void {
  const outside = Object.values(outputs).flatMap(({ imports }) => imports)
  const missing = outside.filter(({ path: name, external }) => external && !isBuiltin(name))
  if (missing.length === 0) return
  throw new Error(`not bundled: ${[...new Set(missing.map(({ path: name }) => name))].join(', ')}`)
}
