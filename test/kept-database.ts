/**
 * Databases that the tests of a process use one after another. Their connections stay open: to read
 * the schema and to prepare statements takes most of the time of a short test. Between two tests all
 * rows go but those of a new database, and all other files of the folder. A database that a test has
 * damaged, closed, migrated or made large is not used again.
 */
import { rmSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Connection, openConnection } from '../src/store/connection.ts'
import { copyDatabase } from './database-template.ts'
import { emptyDatabase, type NewRows, readNewRows } from './empty-database.ts'

export type KeptDatabase = {
  folder: string
  /** In place of `openConnection`; other files than this database are opened as ever. */
  connect: typeof openConnection
  /** Call this when the core is open: what is there now belongs to a new database. */
  opened(): void
  /** From now on to close a connection gives it back. */
  keepOpen(): void
  /** Call this when nothing uses the database any more. */
  giveBack(): Promise<void>
}

type Kept = {
  folder: string
  file: string
  connections: Map<string, Connection>
  new: (NewRows & { state: string }) | undefined
  /** Changes when another connection writes. */
  version: unknown
  digest: { current: Parameters<typeof openConnection>[0]['addressDigest'] }
}

/** The database of a core in its data folder, by default. */
const NAME = 'pillarbox.db'
const folders = new Set<string>()
const free: Kept[] = []

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** With `isAlone`, this database was not used before, and is not used again. */
export async function takeDatabase({ isAlone }: { isAlone: boolean }): Promise<KeptDatabase> {
  const kept = (isAlone ? undefined : takeFree()) ?? (await makeDatabase())
  const used = new Set<string>()
  let isKeeping = false
  let isClosed = false

  const connect: typeof openConnection = (options) => {
    if (isAlone || options.path !== kept.file) return openConnection(options)
    const { addressDigest, isReadOnly, busyTimeoutMs } = options
    if (addressDigest !== undefined) kept.digest.current = addressDigest
    const key = `${isReadOnly} ${busyTimeoutMs} ${addressDigest === undefined}`
    if (used.has(key)) return openConnection(options)
    used.add(key)
    const known = kept.connections.get(key)
    const connection = known ?? openConnection({ ...options, ...digestOf(kept, options) })
    kept.connections.set(key, connection)
    return lend(connection, () => {
      if (isKeeping) return void used.delete(key)
      isClosed = true
      connection.close()
    })
  }

  return {
    folder: kept.folder,
    connect,
    opened() {
      const writable = writableOf(kept)
      if (writable !== undefined)
        kept.new ??= { ...readNewRows(writable), state: stateOf(kept, writable) }
    },
    keepOpen() {
      isKeeping = true
    },
    async giveBack() {
      try {
        if (!isClosed && used.size === 0 && empty(kept)) {
          await removeOthers(kept)
          free.push(kept)
          return
        }
      } catch {
        // The test has damaged it.
      }
      await discard(kept)
    },
  }
}

function takeFree(): Kept | undefined {
  for (let kept = free.pop(); kept !== undefined; kept = free.pop()) {
    if (versionOf(kept) === kept.version) return kept
    void discard(kept)
  }
  return undefined
}

async function makeDatabase(): Promise<Kept> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-core-'))
  folders.add(folder)
  const file = path.join(folder, NAME)
  await copyDatabase(file)
  const empty = { new: undefined, version: undefined, digest: { current: undefined } }
  return { folder, file, connections: new Map(), ...empty }
}

/** Each core has its own keyring. */
function digestOf({ digest }: Kept, { addressDigest }: Parameters<typeof openConnection>[0]) {
  if (addressDigest === undefined) return {}
  const current: typeof addressDigest = (...of) => (digest.current ?? addressDigest)(...of)
  return { addressDigest: current }
}

/** What is late after the end of its test fails, as it does with a connection that is closed. */
function lend(connection: Connection, giveBack: () => void): Connection {
  let isLent = true
  const guard =
    <A extends unknown[], R>(fn: (...args: A) => R) =>
    (...args: A): R => {
      if (!isLent) throw new TypeError('The database connection is not open')
      return fn(...args)
    }
  return {
    ...connection,
    run: guard(connection.run),
    each: guard(connection.each),
    command: guard((text) => guard(connection.command(text))),
    value: guard((text) => guard(connection.value(text))),
    script: guard(connection.script),
    close() {
      if (isLent) giveBack()
      isLent = false
    },
  }
}

/** Returns false when the database is no longer as a new one is. */
function empty(kept: Kept): boolean {
  const writable = writableOf(kept)
  if (writable === undefined || kept.new === undefined) return false
  if (stateOf(kept, writable) !== kept.new.state) return false
  if (!emptyDatabase(writable, kept.new)) return false
  kept.version = versionOf(kept)
  return true
}

function writableOf({ connections }: Kept): Connection | undefined {
  for (const [key, connection] of connections) if (key.startsWith('undefined ')) return connection
  return undefined
}

function versionOf(kept: Kept): unknown {
  return writableOf(kept)?.value('PRAGMA data_version')()
}

function stateOf({ file }: Kept, writable: Connection): string {
  const pragmas = ['schema_version', 'user_version', 'max_page_count', 'journal_mode']
  const values = pragmas.map((name) => writable.value(`PRAGMA ${name}`)())
  const files = [file, `${file}-wal`, `${file}-shm`].map((name) => statSync(name).ino)
  return [...values, ...files].join(' ')
}

async function removeOthers({ folder, file }: Kept): Promise<void> {
  const own = new Set([file, `${file}-wal`, `${file}-shm`].map((name) => path.basename(name)))
  for (const name of await readdir(folder)) {
    if (!own.has(name)) await rm(path.join(folder, name), { recursive: true })
  }
}

async function discard({ folder, connections }: Kept): Promise<void> {
  for (const connection of connections.values()) connection.close()
  folders.delete(folder)
  await rm(folder, { recursive: true, force: true })
}
