/**
 * Keeps `<data_dir>/generation` up to date while a server runs, and notices at its start that the database
 * is older than the file (`notice-older.ts`), or that its log was lost (`notice-lost-log.ts`). Then the fence is
 * set before anything acts.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { runEvery } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import { generationFileOf, writeGeneration } from '../../ground/fence/generation-file.ts'
import { findLostLogFence, listFences, SERVER } from '../../ground/fence/rows.ts'
import { noticeLostLog, RELEASE_COMMAND, startLogMark } from './notice-lost-log.ts'
import { noticeOlderDatabase } from './notice-older.ts'

type Deps = Pick<Base, 'store' | 'duties' | 'config' | 'directory' | 'health' | 'now' | 'log'>

/**
 * Call it before anything acts on the database; it must be the only server. `stop` writes the file a last
 * time.
 */
export async function startGenerationWatch(
  deps: Deps,
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

async function writeOrWarn(deps: Deps): Promise<void> {
  try {
    await writeGeneration(deps)
  } catch (error) {
    const facts = { error: describeError(error), file: generationFileOf(deps.config) }
    deps.log.warn(facts, 'the file of the generation cannot be written; this is tried again')
  }
}

async function reportFences({ store, health, log }: Deps): Promise<void> {
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
