/**
 * `npm test`: types and lint, then every test outside `test/interop`.
 * `npm run test:interop`: `test/interop` only, against other people's software, in two lanes side by side: the files
 * that need nothing but Chromium in one process, and the others one after the other. What counts system calls comes last.
 * `npm run test:interop -- browser`: this lane alone (`browser`, `other`, `quiet`).
 * `npm test -- FILE…`: these test files only, each in a process of its own.
 * `npm test -- --processes N`: as many at a time; without it one more than the machine has cores.
 *
 * Test files run many to a process, one after the other (`test-batch.ts`): they close the sockets and
 * threads that they open.
 *
 * A run of all tests bundles the test files, the program and the children (`*-child.ts`) of tests first:
 * processes and threads load the bundles in half the processor time that they need for the source.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { outputFolder } from '../build.config.ts'
import { bundleChildren } from './bundle-children.ts'
import { bundleForTests } from './bundle-for-tests.ts'
import { bundleTests } from './bundle-tests.ts'
import { buildDashboard } from './dashboard/build.ts'
import { openReport } from './test-report.ts'

/** Folders in `test` whose files start and kill programs: one of them takes as long as several others. */
const LONG = ['e2e', 'docs/commands', 'cli']
const LONG_SIZE = 8
/** The more files a process runs, the less of its time goes into loading and compiling. */
const MIN_BATCH_SIZE = 16

/** Folders whose files take longest. They begin, so that the last processes are short. */
const FIRST = [...LONG, 'docs', 'http', 'outbound', 'inbound', 'features']

/** Tests of `test/interop` whose only other program is Chromium. They share nothing with the machine. */
const BROWSER = /^test\/interop\/(?:dashboard\/|http\/(?:browser|guide|invitation|uploads)\.)/
/** On a busy machine data comes in more pieces, which takes more system calls. */
const QUIET = /^test\/interop\/process\/system-calls\./

/** For one process with its batch of files. Other load makes the time ten times as long. */
const TIMEOUT_MS = 3_600_000

/** A file system in memory, on Linux: databases of tests lie there, so that no commit waits for a disk. */
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES = 2 * 1024 ** 3

/**
 * A test process lives for a minute or less and uses much memory for a short time: a larger nursery, and no
 * threads that compile or collect beside the main thread, save a tenth of the processor time.
 */
const V8_FLAGS = [
  '--max-semi-space-size=64',
  '--single-threaded-gc',
  '--no-concurrent-recompilation',
]

const bundledThreads = path.join(import.meta.dirname, 'bundled-threads.ts')

/** Lines of the program of the browser lane. */
const SHARE_CHROMIUM = [
  `import { shareChromium } from ${JSON.stringify(pathToFileURL(path.join(import.meta.dirname, '../test/interop/http/chromium.ts')).href)}`,
  'await shareChromium()',
]

/** Of the interop tests. */
const LANES = ['browser', 'other', 'quiet'] as const

/** Kept between runs: compiled TypeScript and the state of tsc. */
const cache = path.join('node_modules', '.cache', 'pillarbox-tests')

process.chdir(path.join(import.meta.dirname, '..'))
process.exitCode = (await runAll(process.argv.slice(2))) ? 0 : 1

async function runAll(argv: string[]): Promise<boolean> {
  prepareEnvironment()
  await buildDashboard()
  if (argv[0] === 'interop') return runInterop(argv.slice(1))
  if (hasMemoryFolder()) process.env.TMPDIR ??= MEMORY_FOLDER
  const { files, processes } = readArguments(argv)
  if (files.length > 0) return runTests(files, processes)
  const bundles = path.resolve(outputFolder, 'for-tests')
  process.env.TEST_PROGRAM = await bundleForTests(bundles)
  await bundleChildren(bundles)
  const tests = listTests()
  const bundle = path.join(bundles, 'tests.mjs')
  await bundleTests(bundle, tests)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-batches-'))
  // Some tests act as another user, who must be able to enter the folder of the program.
  chmodSync(folder, 0o755)
  const programs = writePrograms(folder, bundle, divide(tests, processes))
  const buildInfo = path.join(cache, 'tsc.tsbuildinfo')
  const results = await Promise.all([
    check('tsc', ['--noEmit', '--checkers', '1', '--incremental', '--tsBuildInfoFile', buildInfo]),
    check('tsc', ['--noEmit', '-p', 'src/dashboard']),
    check('biome', ['check', '--error-on-warnings', '.']),
    runTests(programs, processes),
  ])
  rmSync(folder, { recursive: true })
  return !results.includes(false)
}

type Lane = (typeof LANES)[number]

/** `lanes`: the names of those to run; none for all. */
async function runInterop(lanes: readonly string[]): Promise<boolean> {
  const unknown = lanes.find((lane) => !LANES.includes(lane as Lane))
  if (unknown !== undefined) throw new Error(`no lane ${unknown}: ${LANES.join(', ')}`)
  const files = Map.groupBy(globSync('test/interop/**/*.test.ts').sort(), laneOf)
  const filesOf = (lane: Lane) =>
    lanes.length === 0 || lanes.includes(lane) ? (files.get(lane) ?? []) : []
  const browser = await prepareBrowserLane(filesOf('browser'))
  const { read, end } = openReport()
  await Promise.all([
    read(start(filesOf('other'), 1)),
    read(start(browser.programs, 1, { ...process.env, TEST_PROGRAM: browser.program })),
  ])
  await read(start(filesOf('quiet'), 1))
  browser.remove()
  return end()
}

function laneOf(file: string): Lane {
  const place = file.replaceAll(path.sep, '/')
  if (BROWSER.test(place)) return 'browser'
  return QUIET.test(place) ? 'quiet' : 'other'
}

/** Bundles the files and the threads that they start. The other lanes start the program as its users do. */
async function prepareBrowserLane(files: string[]) {
  const bundles = path.resolve(outputFolder, 'for-tests')
  const program = await bundleForTests(bundles)
  const bundle = path.join(bundles, 'browser-tests.mjs')
  await bundleTests(bundle, files)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-browser-tests-'))
  const batches = files.length === 0 ? [] : [files]
  const programs = writePrograms(folder, bundle, batches, SHARE_CHROMIUM)
  return { program, programs, remove: () => rmSync(folder, { recursive: true }) }
}

function readArguments(argv: string[]): { files: string[]; processes: number } {
  const { values, positionals } = parseArgs({
    args: argv,
    options: { processes: { type: 'string' } },
    allowPositionals: true,
  })
  // Many of the tests wait most of the time.
  const processes = Number(values.processes ?? os.availableParallelism() + 1)
  if (Number.isInteger(processes) && processes > 0) return { files: positionals, processes }
  throw new Error(`--processes is no whole number above 0: ${values.processes}`)
}

function listTests(): string[] {
  const rank = (file: string) => {
    const at = FIRST.findIndex((folder) => isIn(folder, file))
    return at === -1 ? FIRST.length : at
  }
  const files = globSync('test/**/*.test.ts', { exclude: ['test/interop/**'] }).sort()
  return files.sort((a, b) => rank(a) - rank(b))
}

function isIn(folder: string, file: string): boolean {
  return file.startsWith(path.join('test', folder, path.sep))
}

/**
 * Divides the files into batches. The later ones are smaller, so that all processes end at nearly the
 * same time.
 */
function divide(files: readonly string[], processes: number): string[][] {
  const sizeOf = (file: string) => (LONG.some((folder) => isIn(folder, file)) ? LONG_SIZE : 1)
  let left = files.reduce((sum, file) => sum + sizeOf(file), 0)
  const batches: string[][] = []
  for (let at = 0; at < files.length; ) {
    const batch: string[] = []
    const size = Math.max(MIN_BATCH_SIZE, left / (1.5 * processes))
    for (let used = 0; used < size && at < files.length; at++) {
      const file = files[at] as string
      batch.push(file)
      used += sizeOf(file)
      left -= sizeOf(file)
    }
    batches.push(batch)
  }
  return batches
}

/**
 * Writes one program for each batch of files of the bundle into the folder, and returns the paths. `first`: lines of
 * each before its files.
 */
function writePrograms(
  folder: string,
  bundle: string,
  batches: string[][],
  first: readonly string[] = [],
): string[] {
  const runner = path.join(import.meta.dirname, 'test-batch.ts')
  const [runnerUrl, bundleUrl] = [runner, bundle].map((file) => pathToFileURL(file).href)
  return batches.map((files, index) => {
    const program = path.join(folder, `${index + 1}.mjs`)
    const lines = [
      `import { describeFiles } from ${JSON.stringify(runnerUrl)}`,
      `import { testFiles } from ${JSON.stringify(bundleUrl)}`,
      ...first,
      `describeFiles(testFiles, ${JSON.stringify(files, null, 2)})`,
    ]
    writeFileSync(program, `${lines.join('\n')}\n`)
    return program
  })
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
  const { read, end } = openReport()
  await read(start(files, concurrency))
  return end()
}

function start(files: string[], concurrency: number, env?: NodeJS.ProcessEnv) {
  const execArgv = [...V8_FLAGS, '--import', pathToFileURL(bundledThreads).href]
  const options = { files, concurrency, execArgv, timeout: TIMEOUT_MS }
  return run(env === undefined ? options : { ...options, env })
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
