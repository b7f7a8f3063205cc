/**
 * The build of the dashboard: one flat folder with hashed scripts and style sheets, their twins in Brotli and
 * gzip, the pages, the licences of the bundled packages, and a manifest for the server.
 */
import { createHash, hash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { ASSET_SOURCES } from '../../src/config/assets.ts'
import type { DashboardManifest } from '../../src/http/dashboard/files.ts'
import { collectLicences } from './licences.ts'
import { framePage, indexPage } from './pages.ts'
import { measure, type Size } from './sizes.ts'

const SOURCE = 'src/dashboard'
const OUTPUT = ASSET_SOURCES['dashboard/'] as string

/** Files that decide about the result besides those of the source folder. */
const OTHER_INPUTS = [...globSync('scripts/dashboard/*.ts').sort(), 'package-lock.json']

const ENTRIES = { main: 'main.tsx', theme: 'theme.ts', app: 'style/app.css' }
const FRAME_ENTRY = 'frame/frame.ts'

const SHARED = {
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
} as const

const LAZY = 'lazy'

/**
 * Puts all that the frame of the dashboard needs into one chunk. The bundler makes a chunk of the modules that the
 * same parts load, and each lazy part loads some modules of the frame: in their own chunks, these modules would be a
 * dozen requests. So each lazy part loads the whole frame, which is there already.
 */
const onceForAll: Plugin = {
  name: 'once-for-all',
  setup({ onResolve, onLoad }) {
    const root = process.cwd()
    onResolve({ filter: /^\./ }, ({ kind, path: name, resolveDir }) => {
      if (kind !== 'dynamic-import' || !resolveDir.startsWith(path.join(root, SOURCE))) return null
      return { path: path.relative(root, path.join(resolveDir, name)), namespace: LAZY }
    })
    onLoad({ filter: /.*/, namespace: LAZY }, ({ path: file }) => {
      const from = (name: string) => JSON.stringify(`./${name.replaceAll(path.sep, '/')}`)
      const frame = `import ${from(`${SOURCE}/app.tsx`)}`
      const exported = `export * from ${from(file)}`
      const named = file.endsWith('.tsx') ? `export { default } from ${from(file)}` : ''
      return { contents: [frame, exported, named].join('\n'), resolveDir: root, loader: 'ts' }
    })
  },
}

/** Scripts and style sheets that the first page names, besides the chunks of the main script. */
type Entries = Record<keyof typeof ENTRIES, string>

/**
 * Builds into the folder of the asset `dashboard/`. The working folder must be the repository's root.
 * @throws Error if a part is larger than its budget, or the bundler warns
 */
export async function buildDashboard(): Promise<{ isNew: boolean; sizes: Size[] }> {
  const inputs = hashInputs()
  if (readManifest()?.inputs === inputs) return { isNew: false, sizes: [] }
  await mkdir(path.dirname(OUTPUT), { recursive: true })
  const folder = await mkdtemp(`${path.resolve(OUTPUT)}-`)
  try {
    const { metafile, warnings } = await build({
      ...SHARED,
      entryPoints: entryPoints(),
      outdir: folder,
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      splitting: true,
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      metafile: true,
      plugins: [onceForAll],
    })
    if (warnings.length > 0) throw new Error('the bundler warned, see above')
    const outputs = flatten(metafile.outputs)
    const entries = findEntries(outputs)
    const first = [entries.main, ...staticImports(outputs, entries.main)]
    const sizes = await measure(folder, { outputs, first: [...first, entries.theme, entries.app] })
    const frame = await bundleFrame()
    await writeFile(path.join(folder, 'index.html'), indexPage({ ...entries, first }))
    await writeFile(path.join(folder, 'frame.html'), framePage(frame))
    await writeFile(path.join(folder, 'licences.txt'), await collectLicences(metafile))
    await writeTwins(folder, Object.keys(outputs))
    const frameScript = `sha256-${hash('sha256', frame, 'base64')}`
    const files = Object.keys(outputs).sort()
    const manifest: DashboardManifest = { inputs, files, frameScript }
    await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest))
    await replace(folder)
    return { isNew: true, sizes }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function hashInputs(): string {
  const digest = createHash('sha256')
  const sources = globSync(`${SOURCE}/**/*.{ts,tsx,css,json,svg}`).sort()
  for (const file of [...sources, ...OTHER_INPUTS]) {
    digest.update(`${file}\0`).update(readFileSync(file)).update('\0')
  }
  return digest.digest('hex')
}

function readManifest(): DashboardManifest | undefined {
  const file = path.join(OUTPUT, 'manifest.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

function entryPoints(): Record<string, string> {
  const named = Object.entries(ENTRIES).map(([name, file]) => [name, `${SOURCE}/${file}`])
  return Object.fromEntries(named)
}

/** The outputs by their file names: the folder is flat. */
function flatten(outputs: Metafile['outputs']): Metafile['outputs'] {
  return Object.fromEntries(
    Object.entries(outputs).map(([file, output]) => [
      path.basename(file),
      {
        ...output,
        imports: output.imports.map((one) => ({ ...one, path: path.basename(one.path) })),
      },
    ]),
  )
}

function findEntries(outputs: Metafile['outputs']): Entries {
  const find = (source: string) => {
    const found = Object.entries(outputs).find(
      ([, one]) => one.entryPoint === `${SOURCE}/${source}`,
    )
    if (found === undefined) throw new Error(`the bundler wrote no file for ${source}`)
    return found[0]
  }
  return { main: find(ENTRIES.main), theme: find(ENTRIES.theme), app: find(ENTRIES.app) }
}

/** The files that the script loads before it runs, without those that it loads later. */
function staticImports(
  outputs: Metafile['outputs'],
  file: string,
  found = new Set<string>(),
): string[] {
  for (const { path: name, kind } of outputs[file]?.imports ?? []) {
    if (kind !== 'import-statement' || found.has(name)) continue
    found.add(name)
    staticImports(outputs, name, found)
  }
  return [...found]
}

async function bundleFrame(): Promise<string> {
  const { outputFiles } = await build({
    ...SHARED,
    entryPoints: [`${SOURCE}/${FRAME_ENTRY}`],
    format: 'iife',
    write: false,
  })
  return (outputFiles[0]?.text ?? '').trim()
}

async function writeTwins(folder: string, names: readonly string[]): Promise<void> {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
  for (const name of names) {
    const file = path.join(folder, name)
    const bytes = await readFile(file)
    await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, quality))
    await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
  }
}

/** A folder cannot be replaced in one step, so a reader may find none for a moment. */
async function replace(folder: string): Promise<void> {
  await rm(OUTPUT, { recursive: true, force: true })
  await rename(folder, OUTPUT)
}
