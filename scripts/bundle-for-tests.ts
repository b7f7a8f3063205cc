/**
 * The program and its threads as a few files, as the build makes them, for the tests that start
 * them: a process that loads a thousand files of TypeScript needs twice the processor time.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { entry } from '../build.config.ts'
import { ASSET_SOURCES } from '../src/config/assets.ts'
import { THREAD_SOURCES } from '../src/threads/start.ts'
import { bundleFrom } from './bundle.ts'

/**
 * Writes the program into `folder` at the places that its files have in the repository, beside the
 * assets, and returns the path of its entry. The addon and other data stay where npm has put them.
 */
export async function bundleForTests(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.join(folder, 'src/config'), { recursive: true })
  const entries = [entry, ...Object.values(THREAD_SOURCES)]
  await bundleFrom({
    entryPoints: entries,
    outbase: '.',
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    external: ['better-sqlite3'],
    define: { 'import.meta.dirname': JSON.stringify(path.join(folder, 'src/config')) },
  })
  for (const place of entries) {
    const { dir, name } = path.parse(path.join(folder, place))
    const file = JSON.stringify(path.join(dir, `${name}.cjs`))
    writeFileSync(path.join(dir, `${name}.ts`), `${RUN_CACHED}\nrunCached(${file})\n`)
  }
  // `package.json` says that the files are ES modules.
  for (const place of new Set(Object.values(ASSET_SOURCES).map(topOf))) link(place, folder)
  const program = path.join(folder, entry)
  await startOnce(program)
  return program
}

const RUN_CACHED = `import { runCached } from ${JSON.stringify(
  pathToFileURL(path.join(import.meta.dirname, 'run-cached.ts')).href,
)}`

/** What the first start has compiled is for all later ones. */
async function startOnce(program: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-first-start-'))
  const settings = { PILLARBOX_HTTP__LISTEN: '127.0.0.1:0', PILLARBOX_LOG__LEVEL: 'error' }
  const env = { ...process.env, ...settings }
  const child = spawn(process.execPath, [program, 'serve'], {
    ...{ cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] as const },
  })
  const exited = once(child, 'exit')
  child.stdout.once('data', () => child.kill('SIGTERM'))
  const [status] = await exited
  if (status !== 0) throw new Error(`the bundled program ended with ${status}`)
  rmSync(folder, { recursive: true })
}

/** `src/docs/` and `package.json` as they are; of `node_modules` the whole folder. */
function topOf(place: string): string {
  return place.startsWith('node_modules/') ? 'node_modules' : place.replace(/\/$/, '')
}

function link(place: string, folder: string): void {
  const from = path.resolve(place)
  const to = path.join(folder, place)
  mkdirSync(path.dirname(to), { recursive: true })
  if (path.extname(place) === '') symlinkSync(from, to, 'junction')
  else cpSync(from, to)
}
