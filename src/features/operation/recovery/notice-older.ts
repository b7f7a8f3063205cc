/**
 * Notices, before any work begins, that the database is older than it was, and keeps `<data_dir>/generation` up to
 * date while a server runs.
 *
 * The database is older than the file if somebody brought it back from a copy:
 *
 *   the database knows less than the file    fence; with no project in it, it is new: numbers go on, only
 *   the same, or more                        nothing
 *   no file                                  nothing
 *   a file that cannot be read               the same, with a warning
 *
 * Servers look before they act, and commands too: the events of a command would raise the numbers of the
 * database, up to those of the file, and hide from the server that it is older.
 *
 * The write-ahead log may be gone although the server did not end cleanly (`files/log-mark.ts`). Then
 * what was accepted is missing, and what was sent would be sent again, so the database is fenced, too.
 */
import { formatInstant, MINUTE_MS } from '../../../base/clock.ts'
import { AppError, describeError } from '../../../base/errors.ts'
import { findLostLog, forgetLostLog, markLog } from '../../../store/files/log-mark.ts'
import { projects } from '../../../store/schema/accounts.ts'
import type { FenceCause } from '../../../store/schema/words.ts'
import { runEvery } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import {
  findKnown,
  generationFileOf,
  isOlder,
  readGeneration,
  writeGeneration,
} from '../../ground/fence/generation-file.ts'
import { findLostLogFence, listFences, SERVER } from '../../ground/fence/rows.ts'
import { continueGeneration } from '../../ground/fence/set.ts'
import { fenceOlderDatabase, fenceWithoutLog } from './fence-database.ts'

type Deps = Pick<Base, 'store' | 'duties' | 'config' | 'directory' | 'now' | 'log'>

const RELEASE_COMMAND = 'pillarbox queue release --restored'

/**
 * Sets a fence if the database is older than the file. Call it before any work on the database.
 * Returns whether a fence had to be set, even if another process was faster.
 */
export async function noticeOlderDatabase(deps: Deps, cause: FenceCause): Promise<boolean> {
  const { config, log } = deps
  const file = generationFileOf(config)
  // The file is read first. A running server may raise both numbers meanwhile, and in the other
  // order the database would look older.
  const known = await readGeneration(file)
  if (known === 'missing') return false
  if (known === 'unreadable') {
    log.warn({ file }, 'the file of the generation cannot be read and is written anew')
    return false
  }
  const own = await findKnown(deps.store.read)
  if (!isOlder(own, known)) return false
  if (await isNew(deps)) {
    await continueGeneration(deps, known)
    return false
  }
  const fenced = await fenceOlderDatabase(deps, { cause, known })
  const facts = { ...fenced, newestEvent: own.seq, newestEventKnown: known.seq }
  log.warn(facts, `the database is older than it was: what it had is held until ${RELEASE_COMMAND}`)
  return true
}

/**
 * Sets a fence if the database is older or has lost its log, and then stops the command, because it
 * must not act on what it was told before the fence. Mail that a server has claimed meanwhile stays
 * with the server.
 * @throws AppError CONFLICT
 */
export async function refuseOlderDatabase(deps: Deps): Promise<void> {
  await refuseLostLog(deps)
  if (!(await noticeOlderDatabase(deps, 'command'))) return
  const text = 'The database is older than it was: it was brought back from a copy.'
  const suggestion = `What it had is held now, until "${RELEASE_COMMAND}". Run the command again.`
  throw new AppError('CONFLICT', text, { suggestion })
}

async function isNew({ store }: Pick<Deps, 'store'>): Promise<boolean> {
  return (await store.read.select({ id: projects.id }).from(projects).limit(1).get()) === undefined
}

/**
 * Sets a fence if the log was lost. Call it before any work on the database. Returns since when
 * commits may be missing, as a date; undefined if no log was lost.
 */
export async function noticeLostLog(
  deps: Deps,
  by: 'start' | 'command',
): Promise<string | undefined> {
  const { config, log } = deps
  const { file } = config.database
  const lost = findLostLog(file)
  if (lost === undefined) return undefined
  const fenced = await fenceWithoutLog(deps, { by, servedAt: lost.servedAt })
  forgetLostLog(file)
  const since = formatInstant(Math.floor(lost.since))
  log.error(
    { ...fenced, file: `${file}-wal`, since },
    `the write-ahead log is missing although the server did not end cleanly: what was accepted, sent or changed after this time may be lost, and what the database still has is held until ${RELEASE_COMMAND}`,
  )
  return since
}

/**
 * Sets a fence if the log was lost, and stops the command, because it must not act on what it was
 * told before.
 * @throws AppError CONFLICT
 */
async function refuseLostLog(deps: Deps): Promise<void> {
  const since = await noticeLostLog(deps, 'command')
  if (since === undefined) return
  const text = `The write-ahead log is missing although the server did not end cleanly: what was accepted, sent or changed after ${since} may be lost.`
  const suggestion = `What the database still has is held now, until "${RELEASE_COMMAND}". Run the command again.`
  throw new AppError('CONFLICT', text, { suggestion })
}

/**
 * Marks the write-ahead log as in use by this server, until `stop`. Call it after the look for a
 * lost log.
 */
async function startLogMark({
  store,
  config,
  now,
  log,
}: Pick<Deps, 'store' | 'config' | 'now' | 'log'>): Promise<{ renew(): void; stop(): void }> {
  const orWarn = (act: () => void) => {
    try {
      act()
    } catch (error) {
      warn(error)
    }
  }
  const warn = (error: unknown) =>
    log.warn({ error: describeError(error) }, 'the mark of the write-ahead log cannot be written')
  try {
    const mark = await markLog(config.database.file, now())
    // Renews the mark when the log is copied into the database. That also happens with a log that
    // was removed under the server, and changes the database file.
    const renew = () => {
      if (store.isWritable()) orWarn(mark.renew)
    }
    const unwatch = store.onCheckpoint(renew)
    return {
      renew,
      stop() {
        unwatch()
        orWarn(mark.remove)
      },
    }
  } catch (error) {
    warn(error)
    return { renew: () => undefined, stop: () => undefined }
  }
}

type WatchDeps = Deps & Pick<Base, 'health'>

/**
 * Keeps the file up to date. Call it before any work on the database, in the only server on it.
 * `stop` writes the file a last time.
 */
export async function startGenerationWatch(
  deps: WatchDeps,
  everyMs = MINUTE_MS,
): Promise<{ stop(): Promise<void> }> {
  await noticeLostLog(deps, 'start')
  await noticeOlderDatabase(deps, 'start')
  const mark = await startLogMark(deps)
  await writeOrWarn(deps)
  await reportFences(deps)
  const loop = runEvery(everyMs, () => {
    mark.renew()
    return writeOrWarn(deps)
  })
  const unwatch = deps.directory.onDrop(() => void reportFences(deps))
  return {
    async stop() {
      unwatch()
      await loop.stop()
      await writeOrWarn(deps)
      mark.stop()
    },
  }
}

async function writeOrWarn(deps: WatchDeps): Promise<void> {
  try {
    await writeGeneration(deps)
  } catch (error) {
    const facts = { error: describeError(error), file: generationFileOf(deps.config) }
    deps.log.warn(facts, 'the file of the generation cannot be written; this is tried again')
  }
}

async function reportFences({ store, health, log }: WatchDeps): Promise<void> {
  try {
    const fences = await listFences(store.read)
    const projectCount = fences.filter(({ projectId }) => projectId !== SERVER).length
    const isLogLost = (await findLostLogFence(store.read))?.isStanding === 1
    const why = isLogLost
      ? 'The database lacks commits, because its write-ahead log was lost'
      : 'The database was brought back from a copy'
    health.set('fence', fences.length === 0 ? null : reasonOf(why, projectCount))
  } catch (error) {
    log.error({ error: describeError(error) }, 'the fences could not be read')
  }
}

function reasonOf(why: string, projectCount: number): string {
  const of = projectCount === 1 ? '1 project' : `${projectCount} projects`
  const whose = projectCount === 0 ? 'the server itself' : of
  return `${why}: what it had of ${whose} is held until ${RELEASE_COMMAND}.`
}
