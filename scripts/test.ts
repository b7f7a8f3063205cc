/**
 * `npm test`: types and lint, then every test outside `test/interop`.
 * `npm run test:interop`: `test/interop` only, against other people's software.
 * `npm test -- FILE…`: these test files only, each in a process of its own.
 *
 * Most test files run many to a process, one after the other (`test-batch.ts`): they start nothing
 * but sockets and threads, and close these. The files ALONE have a process to themselves.
 *
 * A run of all tests bundles the program first: the processes and threads that tests start load the
 * bundle in half the processor time that they need for the source.
 */
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { pathToFileURL } from 'node:url'
import { outputFolder } from '../build.config.ts'
import { bundleForTests } from './bundle-for-tests.ts'
import { report } from './test-report.ts'

/** Folders and files in `test` that start and kill programs, fill the disk, or take long. */
const ALONE = [
  'e2e',
  'docs/commands',
  'docs/containerfile.test.ts',
  'cli/serve.test.ts',
  'store/files',
  'store/migrate.test.ts',
  'store/write/crash.test.ts',
  'log.test.ts',
  'main.test.ts',
]
const BATCH_FILES = 16

/** Folders whose files take longest. They begin, so that the last processes to run are short. */
const FIRST = ['e2e', 'docs', 'cli', 'http', 'outbound', 'inbound', 'features']

/** For one process; the crash and queue tests of `interop` are the longest. Other load makes it slow. */
const TIMEOUT_MS = 900_000

/** A file system in memory, on Linux: databases of tests lie there, so that no commit waits for a disk. */
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES = 2 * 1024 ** 3

const bundledThreads = path.join(import.meta.dirname, 'bundled-threads.ts')

/** Kept between runs: compiled TypeScript and the state of tsc. */
const cache = path.join('node_modules', '.cache', 'pillarbox-tests')

process.chdir(path.join(import.meta.dirname, '..'))
process.exitCode = (await runAll(process.argv.slice(2))) ? 0 : 1

async function runAll(argv: string[]): Promise<boolean> {
  prepareEnvironment()
  if (argv[0] === 'interop') return runTests(globSync('test/interop/**/*.test.ts').sort(), 1)
  if (hasMemoryFolder()) process.env.TMPDIR ??= MEMORY_FOLDER
  const cores = os.availableParallelism()
  if (argv.length > 0) return runTests(argv, cores)
  process.env.TEST_PROGRAM = await bundleForTests(path.resolve(outputFolder, 'for-tests'))
  const tests = listTests()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-batches-'))
  const batches = writeBatches(
    folder,
    tests.filter((file) => !isAlone(file)),
  )
  const buildInfo = path.join(cache, 'tsc.tsbuildinfo')
  const results = await Promise.all([
    check('tsc', ['--noEmit', '--incremental', '--tsBuildInfoFile', buildInfo]),
    check('biome', ['check', '--error-on-warnings', '.']),
    // Many of the tests wait most of the time.
    runTests([...tests.filter(isAlone), ...batches], cores + 1),
  ])
  rmSync(folder, { recursive: true })
  return !results.includes(false)
}

function listTests(): string[] {
  const rank = (file: string) => {
    const at = FIRST.indexOf(file.split(path.sep)[1] ?? '')
    return at === -1 ? FIRST.length : at
  }
  const files = globSync('test/**/*.test.ts', { exclude: ['test/interop/**'] }).sort()
  return files.sort((a, b) => rank(a) - rank(b))
}

function isAlone(file: string): boolean {
  const name = path.relative('test', file).split(path.sep).join('/')
  return ALONE.some((one) => name === one || name.startsWith(`${one}/`))
}

/** Writes one program for each batch of files into the folder, and returns the paths. */
function writeBatches(folder: string, files: string[]): string[] {
  const runner = path.join(import.meta.dirname, 'test-batch.ts')
  const batches: string[] = []
  for (let at = 0; at < files.length; at += BATCH_FILES) {
    const batch = path.join(folder, `${batches.length + 1}.mjs`)
    const text = JSON.stringify(files.slice(at, at + BATCH_FILES), null, 2)
    const url = JSON.stringify(pathToFileURL(runner).href)
    writeFileSync(batch, `import { describeFiles } from ${url}\ndescribeFiles(${text})\n`)
    batches.push(batch)
  }
  return batches
}

/** Runs a tool of node_modules/.bin beside the tests and prints its output. */
function check(tool: string, argv: string[]): Promise<boolean> {
  const startedAt = performance.now()
  const shell = process.platform === 'win32'
  const child = spawn(path.join('node_modules', '.bin', tool), argv, { stdio: 'inherit', shell })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (status) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      console.log(`${status === 0 ? '✔' : '✖'} ${tool} ${argv.join(' ')} (${seconds} s)`)
      resolve(status === 0)
    })
  })
}

async function runTests(files: string[], concurrency: number): Promise<boolean> {
  if (files.length === 0) {
    console.log('✖ no test files')
    return false
  }
  const execArgv = ['--import', pathToFileURL(bundledThreads).href]
  return report(run({ files, concurrency, execArgv, timeout: TIMEOUT_MS }))
}

/** An operator's environment must not reach the tests; compiled modules are kept for the next run. */
function prepareEnvironment(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('PILLARBOX_')) delete process.env[name]
  }
  process.env.NODE_COMPILE_CACHE ??= path.resolve(cache, 'compiled')
}

function hasMemoryFolder(): boolean {
  if (!existsSync(MEMORY_FOLDER)) return false
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  return bavail * bsize >= MEMORY_BYTES
}
