/**
 * Notices that the write-ahead log is gone although the server did not end cleanly (`files/log-mark.ts`). Then
 * the database is older than it was: what was accepted is missing, and what was sent would be sent again. So
 * it is fenced, as one that was brought back from a copy.
 */
import { formatInstant } from '../../../base/clock.ts'
import { AppError, describeError } from '../../../base/errors.ts'
import { findLostLog, forgetLostLog, markLog } from '../../../store/files/log-mark.ts'
import type { Base } from '../../ground/base.ts'
import { fenceWithoutLog } from './fence-database.ts'

type Deps = Pick<Base, 'store' | 'duties' | 'config' | 'directory' | 'now' | 'log'>

export const RELEASE_COMMAND = 'pillarbox queue release --restored'

/**
 * Call it before anything acts on the database. Returns since when commits may be missing, as a date;
 * undefined if no log was lost.
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
 * Stops a command that must not act on what it was told before the loss was noticed.
 * @throws AppError CONFLICT
 */
export async function refuseLostLog(deps: Deps): Promise<void> {
  const since = await noticeLostLog(deps, 'command')
  if (since === undefined) return
  const text = `The write-ahead log is missing although the server did not end cleanly: what was accepted, sent or changed after ${since} may be lost.`
  const suggestion = `What the database still has is held now, until "${RELEASE_COMMAND}". Run the command again.`
  throw new AppError('CONFLICT', text, { suggestion })
}

/** Marks the log as that of this server, until `stop`. Call it when a loss was noticed. */
export async function startLogMark({
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
    // A log that was removed under the server is copied into the database, which is a change since.
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
