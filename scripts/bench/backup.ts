/**
 * `npm run bench:backup`: a backup of a database of `-- --gigabytes N` (1 if absent; BENCH_GIGABYTES in
 * the environment), beside POST /v1/send at 50 a second, and a durable `cp` of the same file beside the
 * same load in the same run. The rows are contents of mail with some random octets, which compress to a
 * third. Then the backup is verified.
 *
 * Required: at most 3 times the time of `cp`, a p99 of the sends below 150 ms meanwhile, less than 300 MB
 * of memory.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { newId } from '../../src/store/ids.ts'
import { type LoadResult, makeProject, prose, startLoad } from './mail/sender.ts'
import { type Bench, createBench, type Running } from './server.ts'
import { printTable, show } from './table.ts'

const run = promisify(execFile)

const GIGABYTE = 1e9
const CONTENT_BYTES = 6_000
const RANDOM_BYTES = 1_200
const ROWS_AT_ONCE = 10_000
const SENDS_A_SECOND = 50
const WARM_UP_MS = 5_000
const SAMPLE_MS = 100

const configuration = `
[http]
listen = "127.0.0.1:0"
[dns]
servers = ["127.0.0.1:9"]
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`

type Timed = { seconds: number; sends: LoadResult }

const gigabytes = Number(readOption('--gigabytes') ?? process.env.BENCH_GIGABYTES ?? 1)
const bench = createBench(configuration)
try {
  const secret = await makeProject(bench)
  fill(bench.database, gigabytes * GIGABYTE)
  const server = await bench.serve()
  try {
    await measure(server, secret)
  } finally {
    await server.stop()
  }
} finally {
  bench.remove()
}

async function measure(server: Running, secret: string): Promise<void> {
  const beside = createLoad(server, secret)
  await beside(() => sleep(WARM_UP_MS))
  const copied = await beside(() => copyDurably(bench))
  const file = path.join(bench.folder, 'backup.tar.zst')
  const memory = watchMemory()
  const made = await beside(() => bench.command('backup', file))
  const peakMegabytes = memory.stop()
  const startedAt = performance.now()
  await bench.command('verify', file)
  const verifySeconds = (performance.now() - startedAt) / 1_000
  const size = (bytes: number) => show(bytes / GIGABYTE, 2)
  printTable([
    ['', 'seconds', 'GB', 'ratio', 'p99 of sends, ms', 'MB of memory'],
    [
      'cp and sync',
      show(copied.seconds, 1),
      size(statSync(bench.database).size),
      '1.0',
      show(copied.sends.p99Ms, 1),
      '',
    ],
    [
      'pillarbox backup',
      show(made.seconds, 1),
      size(statSync(file).size),
      show(made.seconds / copied.seconds, 2),
      show(made.sends.p99Ms, 1),
      show(peakMegabytes),
    ],
    ['pillarbox verify', show(verifySeconds, 1), '', '', '', ''],
  ])
}

/** Runs `work` while the project sends. */
function createLoad({ url }: Running, secret: string) {
  let from = 0
  return async (work: () => Promise<unknown>): Promise<Timed> => {
    const load = await startLoad({
      ...{ url, secret, connections: 5, perSecond: SENDS_A_SECOND, from },
      body: JSON.stringify({
        to: 'customer@@@example.org',
        from: 'shop@example.test',
        subject: 'Your order @@',
        body: prose(2_048),
      }),
    })
    const startedAt = performance.now()
    await work()
    const seconds = (performance.now() - startedAt) / 1_000
    const sends = await load.stop()
    from += sends.answered
    if (sends.refused > 0) throw new Error(`${sends.refused} sends were refused`)
    return { seconds, sends }
  }
}

/** What `cp` takes until the copy is on the disk, as a backup is. */
async function copyDurably({ database, folder }: Bench): Promise<void> {
  const target = path.join(folder, 'copy.db')
  await run('cp', ['--reflink=never', database, target])
  const handle = await open(target, 'r+')
  await handle.sync()
  await handle.close()
  await rm(target)
}

/** Contents until the database has this size. */
function fill(file: string, bytes: number): void {
  const database = new Database(file)
  try {
    database.pragma('synchronous = OFF')
    const projectId = database.prepare('select id from projects').pluck().get()
    const insert = database.prepare(
      `insert into contents (id, project_id, subject, body, last_used_at, created_at)
        values (?, ?, 'Your order', ?, ?, ?)`,
    )
    const text = prose(CONTENT_BYTES - 2 * RANDOM_BYTES)
    const at = Date.now()
    while (statSync(file).size < bytes) {
      database.transaction(() => {
        for (let row = 0; row < ROWS_AT_ONCE; row += 1) {
          insert.run(newId(), projectId, text + randomBytes(RANDOM_BYTES).toString('hex'), at, at)
        }
      })()
      database.pragma('wal_checkpoint(TRUNCATE)')
    }
  } finally {
    database.close()
  }
}

/** The peak of the resident memory of the command's process; Linux only. */
function watchMemory() {
  let peak = 0
  const timer = setInterval(() => {
    const pid = findChild()
    if (pid !== undefined) peak = Math.max(peak, residentMegabytes(pid))
  }, SAMPLE_MS)
  return {
    stop() {
      clearInterval(timer)
      return peak
    },
  }
}

/** The newest child of this process: the command, once it runs. */
function findChild(): number | undefined {
  const children = readFile(`/proc/self/task/${process.pid}/children`).split(' ').filter(Boolean)
  return children.length === 0 ? undefined : Math.max(...children.map(Number))
}

function residentMegabytes(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFile(`/proc/${pid}/status`))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** Empty when the process has ended. */
function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

function readOption(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}
