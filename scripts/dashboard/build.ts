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
import { ASSET_SOURCES } from '../../src/config/assets.ts'
import type { DashboardManifest } from '../../src/http/dashboard/files.ts'
import { bundleApp, bundleFrame, SOURCE } from './bundle.ts'
import { collectLicences } from './licences.ts'
import { framePage, indexPage } from './pages.ts'
import { filesOf, loadedBy, SCREENS } from './screens.ts'
import { measure, type Size } from './sizes.ts'

const OUTPUT = ASSET_SOURCES['dashboard/'] as string

/** Files that decide about the result besides those of the source folder. */
const OTHER_INPUTS = [...globSync('scripts/dashboard/*.ts').sort(), 'package-lock.json']

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
    const { metafile, outputs, main, theme, app } = await bundleApp(folder)
    const first = [...loadedBy(outputs, main), theme, app]
    const sizes = await measure(folder, { outputs, first })
    const frame = await bundleFrame()
    const screens = SCREENS.flatMap(({ path: at, parts }) => {
      return at === undefined ? [] : { path: at, files: filesOf(outputs, parts, first) }
    })
    await writeFile(path.join(folder, 'index.html'), indexPage({ main, theme, app, screens }))
    await writeFile(path.join(folder, 'frame.html'), framePage(frame))
    await writeFile(path.join(folder, 'licences.txt'), await collectLicences(metafile))
    await writeTwins(folder, Object.keys(outputs))
    const manifest: DashboardManifest = {
      inputs,
      files: Object.keys(outputs).sort(),
      screens,
      frameScript: `sha256-${hash('sha256', frame, 'base64')}`,
    }
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
