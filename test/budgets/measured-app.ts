/** Serves the program and obeys `server.ts`, which says when the clock moves and what is counted. */
import assert from 'node:assert/strict'
import { existsSync, fstat } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { getHeapStatistics } from 'node:v8'
import { type App, startApp } from '../../src/app.ts'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { prepareDataDir } from '../../src/config/secret.ts'
import { openCore } from '../../src/core/open-core.ts'
import { insertDomain } from '../../src/features/mail/domains/domains.ts'
import { makeDomainKeys } from '../../src/features/mail/domains/keys.ts'
import { makeKeys } from '../../src/features/tenancy/accounts/projects/keys.ts'
import { insertProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { insertUser } from '../../src/features/tenancy/accounts/users/users.ts'
import { sql } from '../../src/store/drizzle.ts'
import { createInlineThreads } from '../../src/store/read/thread.ts'
import { copyDatabase } from '../database-template.ts'
import { watchActivity } from './activity.ts'
import { allocatedBy, type Profile } from './allocation.ts'
import { createCountedConnections } from './counted-connection.ts'
import { openedTrees, uniteTrees } from './opened-trees.ts'
import { MARKS } from './system-calls.ts'
import type { VirtualTime } from './virtual-time.ts'
import { readWalPages } from './wal-pages.ts'

/** Turns of the loop without anything new after which the main thread has nothing more to do by itself. */
const QUIET_TURNS = 12
/** The same after a timer that has done nothing yet. */
const IDLE_TURNS = 3
/** Longest chain of work of libuv with no statement in it. */
const WORK_ROUNDS = 3
/** Windows begin at the same place between the ticks of the slow timers, and not at a full minute as jobs do. */
const BEAT_MS = 2 * 60_000
const OFFSET_MS = 30_000
/** A start waits for no longer timer. */
const START_TIMERS_MS = 20
const SAMPLING_BYTES = 8_192

const IN_FLIGHT = `SELECT (SELECT count(*) FROM emails WHERE lease_until IS NOT NULL),
  (SELECT count(*) FROM attempts)`

export type Measured = {
  /** How often each statement ran, by its name; the texts for whoever asks why. */
  statements: Record<string, number>
  texts: Record<string, string[]>
  rowsChanged: number
  commits: number
  pages: Record<string, number>
  /** By the name of statements: the B-trees that they open for writing. */
  opened: Record<string, string[]>
  allocatedBytes: number
  allocatedBy: string[]
  /** By way and type. */
  messages: Record<string, number>
}

export type Ready = { url: string; projects: { id: string; secret: string }[] }

export async function serveMeasured(time: VirtualTime): Promise<void> {
  const config = loadConfig({ cwd: process.cwd(), systemFile: 'none', env: process.env })
  await prepareDataDir(config)
  await copyDatabase(config.database.file)
  const connections = createCountedConnections()
  // Results of one wave of deliveries are written together, in whichever order and time they come.
  const activity = watchActivity(() => connections.close())
  const { connect } = connections
  const log = silentLog()
  const projects = await makeProjects()
  const createThread = createInlineThreads(connect)
  const starting = startApp(config, { log, connect, createThread })
  const app: App = await startStill(starting)
  const wal = `${config.database.file}-wal`
  const startedAt = time.now()
  const session = new Session()
  session.connect()
  let changes = 0
  let allocated = 0

  async function makeProjects(): Promise<Ready['projects']> {
    const core = await openCore(config, { log })
    const domainKeys = await makeDomainKeys(core)
    const at = core.now()
    const made = await core.store.write(async (tx) => {
      const owner = { address: 'owner@people.test', passwordHash: '', isSandbox: false }
      const ownerId = await insertUser(tx, { ...owner, isProven: true, at })
      const rows: Ready['projects'] = []
      for (const name of ['shop', 'list', 'flow', 'hook']) {
        const keys = makeKeys()
        const project = { name, ownerId, keys, areKeysSandbox: false, at }
        const projectId = await insertProject(tx, project)
        const domain = { projectId, domain: `${name}.test`, keys: domainKeys, isTrusted: true, at }
        await insertDomain(tx, domain)
        rows.push({ id: projectId, secret: keys.secretKey })
      }
      await tx.run(sql`INSERT INTO holds VALUES ('held.test', 1)`)
      return rows
    })
    await core.close()
    return made
  }

  function state(): number {
    return connections.total() + activity.requests + activity.begun + activity.ended
  }

  /**
   * Calls `act` when neither statements nor messages nor work of libuv have come for some turns. Without
   * promises and closures: what the harness allocates would count.
   */
  function afterQuiet(turns: number, seen: number, act: () => void): void {
    if (turns > 0)
      setImmediate(afterQuiet, state() === seen ? turns - 1 : QUIET_TURNS, state(), act)
    else act()
  }

  /** As `afterQuiet`, when the thread of libuv has nothing to do either. */
  function afterWork(rounds: number, seen: number, act: () => void): void {
    if (rounds === 0) {
      act()
      return
    }
    // The only thread of libuv has done what came before this.
    fstat(0, () => {
      const now = state()
      const left = now !== seen ? WORK_ROUNDS : rounds - 1
      afterQuiet(QUIET_TURNS, now, () => afterWork(left, state(), act))
    })
  }

  function settle(): Promise<void> {
    return new Promise((resolve) => afterWork(WORK_ROUNDS, state(), resolve))
  }

  /**
   * Whether claimed emails have no result yet: some go out only when others have brought their site more
   * connections. Each result that was written is an attempt.
   */
  function isInWave(): boolean {
    if (!connections.isClosed()) return false
    const [[claimed, attempts]] = connections.writer().run(IN_FLIGHT, [], 'rows') as [
      [number, number],
    ]
    return claimed > activity.results - attempts
  }

  /** Deliveries and requests that are out come back before the clock moves; their results are one group. */
  async function advance(ms: number): Promise<void> {
    const end = time.now() + ms
    await settle()
    await new Promise<void>((resolve) => {
      let before = state()
      const go = () => {
        if (activity.begun > activity.ended || isInWave()) return realPause(go)
        if (state() !== before) {
          before = state()
          return afterWork(WORK_ROUNDS, before, go)
        }
        connections.open()
        if (time.fireNext(end)) afterQuiet(IDLE_TURNS, before, go)
        else resolve()
      }
      go()
    })
    time.moveTo(end)
  }

  async function advanceUntil<T>(promise: Promise<T>): Promise<T> {
    let isDone = false
    const done = promise.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await advance(5)
      await new Promise<void>((resolve) => realPause(resolve))
    }
    return done
  }

  /**
   * A start waits for threads, for a time that depends on the machine. The clock stands still meanwhile, so
   * all timers keep their place relative to the windows.
   */
  async function startStill<T>(promise: Promise<T>): Promise<T> {
    let isDone = false
    const done = promise.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await settle()
      time.fireEarly(START_TIMERS_MS)
      await new Promise<void>((resolve) => realPause(resolve))
    }
    return done
  }

  function nextWindow(): number {
    const elapsed = time.now() - startedAt - OFFSET_MS
    return time.now() + BEAT_MS - (elapsed % BEAT_MS)
  }

  async function begin(): Promise<void> {
    await settle()
    await advance(nextWindow() - time.now())
    connections.writer().run('PRAGMA wal_checkpoint(TRUNCATE)', [], 'rows')
    changes = readChanges()
    activity.messages.clear()
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLING_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    })
    globalThis.gc?.()
    connections.statements.clear()
    existsSync(MARKS.begin)
    allocated = getHeapStatistics().used_heap_size
  }

  async function end(): Promise<Measured> {
    await settle()
    existsSync(MARKS.end)
    const allocatedBytes = getHeapStatistics().used_heap_size - allocated
    const { profile } = (await session.post('HeapProfiler.stopSampling')) as { profile: Profile }
    const ran = [...connections.statements.values()]
    const statements: Record<string, number> = {}
    const texts: Record<string, string[]> = {}
    const opened: Record<string, string[]> = {}
    for (const statement of ran) {
      const { name, text, count } = statement
      statements[name] = (statements[name] ?? 0) + count
      texts[name] = [...(texts[name] ?? []), text]
      if (!/^\w+ \w+$/.test(name) || name.startsWith('select ')) continue
      const trees = uniteTrees(opened[name] ?? [], openedTrees(connections.writer(), statement))
      if (trees.length > 0) opened[name] = trees
    }
    const { pages, commits } = existsSync(wal)
      ? readWalPages(wal, connections.writer())
      : { pages: {}, commits: 0 }
    return {
      ...{ statements, texts, opened, pages, commits, allocatedBytes },
      rowsChanged: readChanges() - changes,
      allocatedBy: allocatedBy(profile),
      messages: Object.fromEntries(activity.messages),
    }
  }

  function readChanges(): number {
    const [row] = connections.writer().run('select total_changes()', [], 'rows') as [[number]]
    return row[0]
  }

  async function untilRequests(requests: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = () => (activity.requests < requests ? realPause(look) : resolve())
      look()
    })
    await settle()
  }

  const orders = {
    ...{ advance, untilRequests, begin, end, settle },
    closeGate: async () => connections.close(),
    requests: async () => activity.requests,
    nextWindow: async () => nextWindow(),
    query: async (text: string) => connections.writer().run(text, [], 'records'),
    stop: () => advanceUntil(app.stop()),
  }

  process.on(
    'message',
    async ({ id, order, args }: { id: number; order: keyof typeof orders; args: never[] }) => {
      try {
        const act = orders[order] as (...args: never[]) => Promise<unknown>
        process.send?.({ id, result: await act(...args) })
      } catch (error) {
        process.send?.({ id, error: error instanceof Error ? error.stack : String(error) })
      }
    },
  )
  // A tracer between the two processes does not pass signals on.
  process.once('disconnect', () => process.exit())
  assert.ok(globalThis.gc, 'node --expose-gc')
  process.send?.({ id: 0, result: { url: app.ready.http, projects } satisfies Ready })
}

export type Orders = {
  advance(ms: number): Promise<void>
  untilRequests(count: number): Promise<void>
  begin(): Promise<void>
  end(): Promise<Measured>
  settle(): Promise<void>
  closeGate(): Promise<void>
  requests(): Promise<number>
  /** When the next `begin` will begin, if the clock moves no further before it. */
  nextWindow(): Promise<number>
  query(text: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

const pause = new Int32Array(new SharedArrayBuffer(4))

/** Lets others run: their messages come from other threads and processes. */
function realPause(act: () => void): void {
  Atomics.wait(pause, 0, 0, 1)
  setImmediate(act)
}
